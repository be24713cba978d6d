// svc health: what it prints, and its exit codes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveHttp } from '../serve-http.ts';
import { createProject, type Project, runCli } from './cli-process.ts';

let project: Project;
beforeAll(() => {
  project = createProject({ graphs: { agent: './agent.ts:graph', broken: './broken.ts:graph' } });
  project.write('broken.ts', "throw new Error('no key');");
});
afterAll(() => project[Symbol.dispose]());

const health = async (...args: string[]) => {
  await using cli = runCli(['health', ...args], { cwd: project.dir });
  return await cli.exit;
};

const serverWith = (status: number, body: string) =>
  serveHttp((_, out) => out.writeHead(status, { 'content-type': 'application/json' }).end(body));

describe('svc health', () => {
  it('finds the server of the project, whichever port it has, and names graphs that cannot be loaded', async () => {
    await using server = runCli(['start', '--port', '0'], { cwd: project.dir });
    await server.prints(/broken/);
    await expect.poll(async () => (await health()).code, { timeout: 60_000, interval: 10 }).toBe(0);
    const { stdout } = await health();
    expect(stdout).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ is ready: 1 live workers, 0 runs running, 0 pending$/m,
    );
    expect(stdout).toContain('Graphs that cannot be loaded: broken.');
  });

  it('reports that the embedding model cannot be loaded', async () => {
    await using server = await serverWith(200, '{"ready":true,"failed_store_index":true}');
    const { code, stdout } = await health('--url', server.url);
    expect(stdout).toContain('The embedding model of store.index cannot be loaded.');
    expect(code).toBe(0);
  });

  it('ends with 3 and the reason when the server is not ready', async () => {
    await using server = await serverWith(
      503,
      JSON.stringify({ message: 'The server is stopping\u001B[31m' }),
    );
    const { code, stderr } = await health('--url', server.url);
    expect(code).toBe(3);
    expect(stderr).toContain('is not ready (503): The server is stopping?[31m');
  });

  it('asks at the root of an address with a mount prefix', async () => {
    await using server = await serveHttp((request, out) =>
      out.writeHead(request.url === '/ready' ? 200 : 404).end('{"ready":true}'),
    );
    expect((await health('--url', `${server.url}/agents`)).code).toBe(0);
  });

  it.each([
    ['nothing listens', 'http://127.0.0.1:1', [], 'cannot be reached'],
    ['the address is none', 'localhost', [], '--url'],
  ])('fails when %s', async (_, url, more, message) => {
    const { code, stderr } = await health('--url', url, ...more);
    expect(stderr).toContain(message);
    expect(code).toBe(url === 'localhost' ? 2 : 3);
  });

  it('ends with 3 when the server does not answer in time', async () => {
    await using server = await serveHttp(() => undefined);
    const { code, stderr } = await health('--url', server.url, '--timeout', '0.2');
    expect(stderr).toContain('does not answer in time');
    expect(code).toBe(3);
  });

  it('ends with 3 when something else answers', async () => {
    await using server = await serverWith(404, '<html>');
    expect((await health('--url', server.url)).code).toBe(3);
  });

  it.each(['long', '0', '-1'])('refuses the time limit %s', async (timeout) => {
    const { code, stderr } = await health('--timeout', timeout);
    expect(stderr).toContain('--timeout');
    expect(code).toBe(2);
  });
});
