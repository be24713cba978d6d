// http.disable_…: parts of the API that a deployment does not serve.
import { describe, expect, it } from 'vitest';
import { startTestServer, type TestExecutors, type TestServer } from '../server.ts';
import { projectWith } from './wire.ts';

const startWith = async (http: object, executors: TestExecutors = 'none'): Promise<TestServer> => {
  const project = await projectWith({ http });
  const server = await startTestServer({ project: project.file, executors });
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
};
const run = { assistant_id: 'probe', input: { do: 'sleep', ms: 1 } };

describe('a disabled group of routes', () => {
  it('does not exist, also in the API reference; the other groups do', async () => {
    await using server = await startWith({ disable_store: true, disable_assistants: true });
    const search = await server.call('POST', '/store/items/search', { namespace_prefix: [] });
    expect(search).toMatchObject({ status: 404, body: { message: 'No route has this path.' } });
    expect((await server.call('POST', '/assistants/search', {})).status).toBe(404);
    expect((await server.call('POST', '/runs', run)).status).toBe(200);
    const { body } = await server.call('GET', '/openapi.json');
    const paths = Object.keys((body as { paths: object }).paths);
    expect(paths).toContain('/runs/wait');
    expect(paths.filter((path) => /^\/(store|assistants)/.test(path))).toEqual([]);
    const info = await server.call('GET', '/info');
    expect(info.body).toMatchObject({
      flags: { store: false, assistants: false, threads: true, crons: true },
    });
  });

  it('of runs contains the crons; threads stay', async () => {
    await using server = await startWith({ disable_runs: true });
    expect((await server.call('POST', '/runs/wait', run)).status).toBe(404);
    expect((await server.call('POST', '/runs/crons/search', {})).status).toBe(404);
    const command = { id: 1, method: 'run.start', params: { assistant_id: 'probe', input: {} } };
    const path = '/threads/6f9619ff-8b86-d011-b42d-00cf4fc964ff/commands';
    expect((await server.call('POST', path, command)).status).toBe(404);
    expect((await server.call('POST', path, command)).body).toMatchObject({
      message: 'No route has this path.',
    });
    expect((await server.call('POST', '/threads', {})).status).toBe(200);
  });

  it('of a protocol for tools or agents leaves the other one', async () => {
    await using server = await startWith({ disable_a2a: true });
    const card = '/.well-known/agent-card.json';
    for (const path of [`${card}?assistant_id=probe`, `/a2a/probe${card}`])
      expect((await server.call('GET', path)).status).toBe(404);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await server.call('POST', '/a2a/probe', ping)).status).toBe(404);
    expect((await server.call('POST', '/mcp', ping)).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('of facts about the server leaves /ok and /ready', async () => {
    await using server = await startWith({ disable_meta: true });
    for (const path of ['/info', '/metrics', '/docs', '/openapi.json'])
      expect((await server.call('GET', path)).status).toBe(404);
    expect((await server.call('GET', '/ok?check_db=true')).status).toBe(200);
    expect((await server.call('GET', '/ready')).status).not.toBe(404);
  });
});

describe('disabled webhooks', () => {
  it('refuse a run that has one', async () => {
    await using server = await startWith({ disable_webhooks: true }, 'started');
    const refused = await server.call('POST', '/runs/wait', { ...run, webhook: 'https://example.com/' });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      message: expect.stringContaining('webhooks are disabled') as string,
    });
    expect((await server.call('POST', '/runs/wait', run)).status).toBe(200);
  });
});
