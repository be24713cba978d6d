// http.configurable_headers: request headers that graphs get in `configurable`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { projectWith } from './wire.ts';

let server: TestServer;
let project: AsyncDisposable & { file: string };
beforeAll(async () => {
  const configurable_headers = {
    includes: ['x-user-*', 'x-plan', 'thread_id', '__pregel*'],
    excludes: ['x-user-secret'],
  };
  project = await projectWith({ http: { configurable_headers } });
  server = await startTestServer({ project: project.file });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});

const body = { assistant_id: 'probe', input: { do: 'config' } };
const configurableOf = async (path: string, sent: object, headers: Record<string, string>) => {
  const { status, body: values } = await server.call('POST', path, sent, headers);
  expect(status).toBe(200);
  return (values as { out: { configurable: Record<string, unknown> } }).out.configurable;
};

describe('a request header', () => {
  it('is a key of configurable when a pattern selects it', async () => {
    const headers = { 'X-User-Id': 'alice', 'x-plan': 'gold', 'x-other': 'no', 'x-user-secret': 'no' };
    const configurable = await configurableOf('/runs/wait', body, headers);
    expect(configurable).toMatchObject({ 'x-user-id': 'alice', 'x-plan': 'gold' });
    expect(configurable).not.toHaveProperty('x-other');
    expect(configurable).not.toHaveProperty('x-user-secret');
  });

  it('replaces the value that the body has for it, and leaves the other keys', async () => {
    const config = { configurable: { 'x-plan': 'forged', colour: 'red' } };
    const configurable = await configurableOf('/runs/wait', { ...body, config }, { 'x-plan': 'free' });
    expect(configurable).toMatchObject({ 'x-plan': 'free', colour: 'red' });
  });

  it('never replaces a key that the server sets', async () => {
    const { body: thread } = await server.call('POST', '/threads', {});
    const { thread_id } = thread as { thread_id: string };
    const headers = { thread_id: 'forged', __pregel_x: 'forged' };
    const configurable = await configurableOf(`/threads/${thread_id}/runs/wait`, body, headers);
    expect(configurable).toMatchObject({ thread_id });
    expect(Object.values(configurable)).not.toContain('forged');
  });

  it('reaches the runs of a batch', async () => {
    const { body: created } = await server.call('POST', '/runs/batch', [{ ...body, on_completion: 'keep' }], {
      'x-plan': 'batch',
    });
    const [run] = created as { thread_id: string; run_id: string }[];
    const { body: values } = await server.call('GET', `/threads/${run?.thread_id}/runs/${run?.run_id}/join`);
    expect(values).toMatchObject({ out: { configurable: { 'x-plan': 'batch' } } });
  });
});
