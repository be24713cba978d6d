// Traces of stock tracers are stored and read back unchanged.
import { randomUUID } from 'node:crypto';
import { Client, RunTree } from 'langsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform[Symbol.asyncDispose]());

const newClient = (options: ConstructorParameters<typeof Client>[0] = {}): Client =>
  new Client({ apiUrl: platform.apiUrl, apiKey: platform.key, ...options });

const read = async (id: string): Promise<Record<string, unknown>> => {
  const { status, body } = await platform.call('GET', `/runs/${id}`);
  expect(status).toBe(200);
  return body as Record<string, unknown>;
};

describe('POST /runs/batch', () => {
  it('stores runs that are read back unchanged', async () => {
    const id = randomUUID();
    const inputs = { text: 'a\u0000b\ud800c', list: [1, 2.5, null, { deep: true }] };
    const { status, body } = await platform.call('POST', '/runs/batch', {
      json: {
        post: [
          {
            id,
            trace_id: id,
            dotted_order: `20261121T080000123456Z${id}`,
            name: 'no\u0000name',
            run_type: 'chain',
            start_time: '2026-11-21T08:00:00.123456Z',
            inputs,
            extra: { runtime: { library: 'x' }, metadata: { thread_id: 't1', odd: 'x\u0000' } },
            tags: ['one', 'two'],
          },
        ],
        patch: [],
      },
    });
    expect(body).toEqual({ message: 'Runs were taken in' });
    expect(status).toBe(202);
    expect(await read(id)).toMatchObject({
      id,
      trace_id: id,
      name: 'no\u0000name',
      status: 'pending',
      start_time: '2026-11-21T08:00:00.123456Z',
      inputs,
      outputs: null,
      extra: { runtime: { library: 'x' }, metadata: { thread_id: 't1', odd: 'x\u0000' } },
      tags: ['one', 'two'],
      thread_id: 't1',
    });
  });
});

describe('the stock client', () => {
  it.each([true, false])('sends a tree of runs (batches: %s)', async (autoBatchTracing) => {
    const client = newClient({ autoBatchTracing });
    const root = new RunTree({
      name: 'root',
      run_type: 'chain',
      inputs: { question: 'why?' },
      project_name: 'trees',
      metadata: { session_id: 'conversation-1' },
      tags: ['test'],
      client,
    });
    await root.postRun();
    const child = root.createChild({ name: 'model', run_type: 'llm', inputs: { messages: [] } });
    await child.postRun();
    await client.flush();
    await child.end({
      usage_metadata: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      text: 'because',
    });
    await child.patchRun();
    await root.end(undefined, 'it broke');
    await root.patchRun();
    await client.awaitPendingTraceBatches();
    const [stored, below] = [await read(root.id), await read(child.id)];
    expect(stored).toMatchObject({
      name: 'root',
      status: 'error',
      error: 'it broke',
      inputs: { question: 'why?' },
      thread_id: 'conversation-1',
      tags: ['test'],
      parent_run_id: null,
      trace_id: root.id,
    });
    expect(below).toMatchObject({
      status: 'success',
      parent_run_id: root.id,
      trace_id: root.id,
      total_tokens: 15,
      prompt_tokens: 10,
      session_id: stored['session_id'],
      outputs: { text: 'because', usage_metadata: { total_tokens: 15 } },
      parent_run_ids: [root.id],
    });
    const again = await client.readRun(root.id);
    expect(again.name).toBe('root');
    expect((await client.readProject({ projectName: 'trees' })).id).toBe(stored['session_id']);
  });
});
