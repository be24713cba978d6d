import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { childrenOf } from '../faults/process-tree.ts';
import { bin, createProject, type Project, runCli } from './cli-process.ts';

const address = /API +(http:\/\/\S+)/;

const ok = async (url: string): Promise<boolean> => (await fetch(`${url}/ok`)).ok;

const descendantsOf = (pid: number): number[] =>
  childrenOf(pid, '').flatMap((child) => [child, ...descendantsOf(child)]);

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Runs `npm start` in the project, as the leader of a process group. */
const npmStart = async (project: Project): Promise<{ npm: ChildProcess; url: string }> => {
  const start = `"${process.execPath}" "${bin}" start --port 0`;
  project.write('package.json', { name: 'project', private: true, scripts: { start } });
  const npm = spawn('npm', ['start'], {
    cwd: project.dir,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const url = await eventually(() => {
    const [, found] = address.exec(output) ?? [];
    if (found === undefined) throw new Error(`npm start has not printed its address: ${output}`);
    return found;
  });
  return { npm, url };
};

describe('svc start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('serves until %s, then exits 0', async (signal) => {
    using project = createProject();
    await using svc = runCli(['start', '--port', '0'], { cwd: project.dir });
    const [, url = ''] = await svc.prints(address);
    expect(await ok(url)).toBe(true);
    process.kill(svc.pid, signal);
    expect((await svc.exit).code).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('stops with its executors and its PostgreSQL when npm, which started it, is killed', async () => {
    using project = createProject();
    const { npm, url } = await npmStart(project);
    const started = descendantsOf(npm.pid ?? 0);
    expect(started.length).toBeGreaterThan(3);
    npm.kill('SIGTERM');
    await eventually(() => expect(started.filter(isAlive)).toEqual([]));
    await expect(fetch(url)).rejects.toThrow();
  });

  it('finishes its runs after one Ctrl-C in the terminal of npm', async () => {
    using project = createProject();
    project.write(
      'agent.ts',
      `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
      import { writeFileSync } from 'node:fs';
      const wait = async () => {
        writeFileSync('started', '');
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        return { messages: [{ role: 'assistant', content: 'done' }] };
      };
      export const graph = new StateGraph(MessagesAnnotation).addNode('wait', wait).addEdge('__start__', 'wait').compile();`,
    );
    const { npm, url } = await npmStart(project);
    const answer = fetch(`${url}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'agent', input: { messages: [] } }),
    });
    await eventually(() => expect(existsSync(join(project.dir, 'started'))).toBe(true));
    const started = descendantsOf(npm.pid ?? 0);
    // As a terminal does: the signal goes to every process of the group.
    process.kill(-(npm.pid ?? 0), 'SIGINT');
    expect(await (await answer).text()).toContain('done');
    await eventually(() => expect(started.filter(isAlive)).toEqual([]));
  });

  it('logs a failed run once, with the message and stack of its error', async () => {
    using project = createProject();
    project.write(
      'agent.ts',
      `import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
      function fail(): never { throw new RangeError('no more tea'); }
      export const graph = new StateGraph(MessagesAnnotation).addNode('fail', fail).addEdge('__start__', 'fail').compile();`,
    );
    await using svc = runCli(['start', '--port', '0'], { cwd: project.dir });
    const [, url = ''] = await svc.prints(address);
    const answer = await fetch(`${url}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'agent', input: { messages: [] } }),
    });
    expect(await answer.text()).toContain('no more tea');
    await svc.prints(/"level":50.*"msg":"run failed"/);
    const lines = svc
      .output()
      .split('\n')
      .filter((line) => line.includes('no more tea'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msg: 'run failed',
      status: 'error',
      error: 'RangeError',
      message: 'no more tea',
      stack: expect.stringContaining('agent.ts') as string,
    });
  });

  it('prints a banner with the graphs, the data folder and a request that works', async () => {
    using project = createProject();
    await using svc = runCli(['start', '--port', '0'], { cwd: project.dir });
    const [command] = await svc.prints(/curl .*'\n/);
    const [, url = ''] = await svc.prints(address);
    const [, body = ''] = /-d '(.*)'/.exec(command) ?? [];
    expect(command).toContain(`curl -s ${url}/runs/wait`);
    expect(JSON.parse(body)).toMatchObject({
      assistant_id: 'agent',
      input: { messages: [{ content: 'hello' }] },
    });
    expect(svc.output()).toContain(`embedded PostgreSQL in ${project.dir}/.svc`);
    expect(svc.output()).toMatch(/Graphs +agent\n/);
  });

  it('prints who may use it and the risk of that', async () => {
    using project = createProject();
    const args = ['start', '--port', '0'];
    {
      await using svc = runCli(args, { cwd: project.dir, env: { SVC_CORS_ORIGINS: '*' } });
      await svc.prints(/Access +anyone on this machine\n/);
      expect(svc.output()).toContain('CORS allows every origin and there is no authentication');
    }
    await using svc = runCli(args, {
      cwd: project.dir,
      env: { SVC_API_KEY: 'hunter2-hunter2-hunter2-hunter2-hunter2' },
    });
    await svc.prints(/Access +whoever has the API key\n[^]*curl -s \S+ -H 'x-api-key: …'/);
    expect(svc.output()).not.toMatch(/hunter2|CORS/);
  });

  it('exits with a message that names the port and the flag when the port is in use', async () => {
    using project = createProject();
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => {
      blocker.once('listening', resolve);
    });
    const { port } = blocker.address() as AddressInfo;
    const { code, stderr } = await runCli(['start', '--port', String(port)], { cwd: project.dir }).exit;
    blocker.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`Port ${port} on 127.0.0.1 is in use`);
    expect(stderr).toContain('--port');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('svc dev', () => {
  it('serves the current svc.json, survives an invalid one, and continues with the corrected one', async () => {
    using project = createProject();
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    const [, first = ''] = await svc.prints(address);

    let from = svc.output().length;
    project.write('svc.json', '{"graphs": }');
    await svc.prints(/Changed: svc\.json/, from);
    await svc.prints(/What was served before still is; waiting/, from);
    expect(svc.output()).toContain('svc.json:1:12: a value is expected here');
    expect(await ok(first)).toBe(true);

    from = svc.output().length;
    project.write('svc.json', { graphs: { agent: './agent.ts:graph', second: './agent.ts:graph' } });
    const [, url = ''] = await svc.prints(/Serving agent, second at (\S+)\n/, from);
    expect(await ok(url)).toBe(true);
  });

  it('restarts on a change of code, not of other files', async () => {
    using project = createProject();
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    await svc.prints(address);
    project.write('notes.txt', 'x');
    project.write('prompts.ts', 'export const prompt = 1;');
    const [changed] = await svc.prints(/Changed: .*\n/);
    expect(changed).toBe('Changed: prompts.ts\n');
    await svc.prints(/Serving agent at/);
  });
});
