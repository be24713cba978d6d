// The stack of the error that ended a run: a developer reads it with the run, and no other response contains it.
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

/** The id of a run that has thrown an error with a cause. */
const failedRun = async (thread_id: string): Promise<string> => {
  const input = { how: 'scream', seed: 3 };
  const { run_id } = await client.runs.create(thread_id, 'odd', { input, stream_resumable: true });
  await client.runs.join(thread_id, run_id).catch(() => undefined);
  return run_id;
};

describe('the error of a run', () => {
  it('has the stacks of the exception and of its cause', async () => {
    const { thread_id } = await client.threads.create();
    const { status, error } = await client.runs.get(thread_id, await failedRun(thread_id));
    expect(status).toBe('error');
    expect(error).toMatchObject({ error: 'TypeError', message: 'begin aaa end' });
    expect(error?.stack).toMatch(/^TypeError: begin aaa end\n +at .*odd\.ts:\d+/);
    expect(error?.stack).toMatch(/\nCaused by: Error: bbb\n +at .*odd\.ts:\d+/);
  });

  it('has no stack in lists, in the thread, in its state and in the events of the run', async () => {
    const { thread_id } = await client.threads.create();
    const run_id = await failedRun(thread_id);
    const error = { error: 'TypeError', message: 'begin aaa end' };
    const [listed] = await client.runs.list(thread_id);
    const [found] = await client.runs.search({ thread_id });
    expect([listed?.error, found?.error]).toEqual([error, error]);
    const events = await server.call('GET', `/threads/${thread_id}/runs/${run_id}/stream?last_event_id=-1`);
    const others = [await client.threads.get(thread_id), await client.threads.getState(thread_id), events];
    expect(JSON.stringify(others)).not.toContain('odd.ts');
  });

  it('is absent when the run has succeeded', async () => {
    const { thread_id } = await client.threads.create();
    const created = await client.runs.create(thread_id, 'odd', { input: { how: 'keep', seed: 0 } });
    await client.runs.join(thread_id, created.run_id);
    const run = await client.runs.get(thread_id, created.run_id);
    expect(run.error).toBeUndefined();
  });
});
