import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createProject, runCli } from './cli-process.ts';

const address = /API +(http:\/\/\S+)/;

const ok = async (url: string): Promise<boolean> => (await fetch(`${url}/ok`)).ok;

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

  it('prints a banner with the graphs, the data and a request that works', async () => {
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

  it('says who may use it, and what is risky about that', async () => {
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

  it('a port in use is a sentence that names the port and the flag', async () => {
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
  it('serves what svc.json says now, survives a broken one, and goes on with the mended one', async () => {
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
