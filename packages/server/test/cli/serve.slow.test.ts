import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { childrenOf } from '../faults/process-tree.ts';
import { createProject, type Project, runCli } from './cli-process.ts';
import { svcCommand } from '../svc-command.ts';

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
  const start = `"${process.execPath}" "${svcCommand}" start --port 0`;
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

const post = (url: string, path: string, body: object): Promise<Response> =>
  fetch(`${url}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const postRun = (url: string, path: string): Promise<Response> =>
  post(url, path, { assistant_id: 'agent', input: { messages: [] } });

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
    const answer = postRun(url, 'runs/wait');
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
    const answer = await postRun(url, 'runs/wait');
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
    await svc.prints(/The previous server still runs; waiting/, from);
    expect(svc.output()).toContain('svc.json:1:12: a value is expected here');
    expect(await ok(first)).toBe(true);

    from = svc.output().length;
    project.write('svc.json', { graphs: { agent: './agent.ts:graph', second: './agent.ts:graph' } });
    const [, url = ''] = await svc.prints(/Serving agent, second at (\S+)\n/, from);
    expect(await ok(url)).toBe(true);
  });

  it('restarts on changes of the modules that were loaded, not of other files', async () => {
    using project = createProject({ graphs: { agent: './agent.ts:graph' }, env: '.env' });
    project.write('.env', 'FIRST=1');
    project.write('prompts.ts', 'export const prompt = "hi";');
    project.write('table.json', '{"greeting": "hello"}');
    project.write('unused.ts', 'export const unused = 1;');
    project.write(
      'agent.ts',
      `import { writeFileSync } from 'node:fs';
      import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
      import { prompt } from './prompts.ts';
      const reply = async () => {
        writeFileSync('memory.json', JSON.stringify({ at: Date.now() }));
        const { default: table } = await import('./table.json', { with: { type: 'json' } });
        return { messages: [{ role: 'assistant', content: prompt + ' ' + table.greeting }] };
      };
      export const graph = new StateGraph(MessagesAnnotation).addNode('reply', reply).addEdge('__start__', 'reply').compile();`,
    );
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    const [, url = ''] = await svc.prints(address);
    expect(await (await postRun(url, 'runs/wait')).text()).toContain('hi hello');
    project.write('memory.json', '{}');
    project.write('unused.ts', 'export const unused = 2;');
    let edits = 0;
    for (const [name, text] of [
      ['prompts.ts', 'export const prompt = "edit";'],
      ['table.json', '{"greeting": "edit"}'],
      ['.env', 'FIRST=edit'],
    ] as const) {
      const from = svc.output().length;
      // The executor reports what it loads while the server serves already.
      const changed = await eventually(() => {
        // Rarely enough for the batch of changes to end.
        if (++edits % 25 === 1) project.write(name, text.replace('edit', String(edits)));
        const [line] = /Changed: .*\n/.exec(svc.output().slice(from)) ?? [];
        if (line === undefined) throw new Error(`no restart after a change of ${name}`);
        return line;
      });
      expect(changed).toBe(`Changed: ${name}\n`);
      // More than one edit was noticed, perhaps.
      await eventually(async () => {
        const [, again = ''] = [...svc.output().matchAll(/Serving agent at (\S+)\n/g)].at(-1) ?? [];
        expect((await postRun(again, 'runs/wait')).status).toBe(200);
      });
    }
    expect(svc.output()).not.toMatch(/Changed: .*(memory|unused)/);
  });

  it('restarts when a file is created whose absence was a mistake in svc.json', async () => {
    using project = createProject();
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    await svc.prints(address);
    const from = svc.output().length;
    project.write('svc.json', { graphs: { later: './later.ts:graph' } });
    await svc.prints(/there is no file .*later\.ts[^]*waiting for the next change/, from);
    project.write('later.ts', `export { graph } from './agent.ts';`);
    await svc.prints(/Changed: later\.ts\nServing later at/, from);
  });

  it('restarts when a module is created that another one imports', async () => {
    using project = createProject();
    project.write('agent.ts', `export { graph } from './missing.ts';`);
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    const [, url = ''] = await svc.prints(address);
    expect(await (await postRun(url, 'runs/wait')).text()).toContain('missing.ts');
    let edits = 0;
    await eventually(() => {
      // The executor reports the missing file when it has failed to load it.
      if (++edits % 25 === 1) project.write('missing.ts', `export const graph = ${edits};`);
      expect(svc.output()).toMatch(/Changed: missing\.ts/);
    });
  });

  it('restarts on changes of the modules of "auth"', async () => {
    using project = createProject({
      graphs: { agent: './agent.ts:graph' },
      auth: { path: './auth.ts:auth' },
    });
    project.write('names.ts', `export const name = 'first';`);
    project.write(
      'auth.ts',
      `import { Auth } from '@svc/sdk/auth';
      import { name } from './names.ts';
      export const auth = new Auth().authenticate(() => ({ identity: name }));`,
    );
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    await svc.prints(address);
    project.write('names.ts', `export const name = 'second';`);
    await svc.prints(/Changed: names\.ts\n/);
    await svc.prints(/Serving agent at/);
  });

  it('lets a node end before a restart, and does not execute it again', async () => {
    using project = createProject();
    const writeAgent = (text: string): void =>
      project.write(
        'agent.ts',
        `import { appendFileSync, existsSync } from 'node:fs';
        import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
        const wait = async () => {
          appendFileSync('nodes', 'wait\\n');
          while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20));
          return {};
        };
        const reply = () => {
          appendFileSync('nodes', 'reply ${text}\\n');
          return { messages: [{ role: 'assistant', content: '${text}' }] };
        };
        export const graph = new StateGraph(MessagesAnnotation).addNode('wait', wait).addNode('reply', reply)
          .addEdge('__start__', 'wait').addEdge('wait', 'reply').compile();`,
      );
    writeAgent('first');
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    const [, url = ''] = await svc.prints(address);
    const thread_id = randomUUID();
    const created = await post(url, 'threads', { thread_id });
    expect(created.status).toBe(200);
    const answer = postRun(url, `threads/${thread_id}/runs/stream`).then((response) => response.text());
    const nodes = (): string => readFileSync(join(project.dir, 'nodes'), 'utf8');
    await eventually(() => expect(nodes()).toBe('wait\n'));
    writeAgent('second');
    await svc.prints(/Changed: agent\.ts/);
    project.write('go', '');
    await eventually(() => expect(nodes()).toMatch(/^wait\nreply (first|second)\n$/));
    expect(await answer).toMatch(/event: values\n[^]*"content":"(first|second)"/);
  });

  it.each([
    ['runs/wait', /"content":"second"/],
    ['runs/stream', /event: values\n[^]*"content":"second"/],
  ])('continues an open response of %s after a restart, with the new code', async (path, expected) => {
    using project = createProject();
    const writeAgent = (text: string): void =>
      project.write(
        'agent.ts',
        `import { existsSync, writeFileSync } from 'node:fs';
        import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
        const wait = async () => {
          writeFileSync('started-${text}', '');
          while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20));
          return { messages: [{ role: 'assistant', content: '${text}' }] };
        };
        export const graph = new StateGraph(MessagesAnnotation).addNode('wait', wait).addEdge('__start__', 'wait').compile();`,
      );
    writeAgent('first');
    await using svc = runCli(['dev', '--port', '0'], { cwd: project.dir });
    const [, url = ''] = await svc.prints(address);
    const answer = postRun(url, path).then((response) => response.text());
    await eventually(() => expect(existsSync(join(project.dir, 'started-first'))).toBe(true));
    writeAgent('second');
    const ended = answer.catch((error: unknown) => error);
    await svc.prints(/Serving agent at/);
    await eventually(() => expect(existsSync(join(project.dir, 'started-second'))).toBe(true));
    project.write('go', '');
    expect(await ended).toMatch(expected);
    process.kill(svc.pid, 'SIGINT');
    expect((await svc.exit).code).toBe(0);
  });
});
