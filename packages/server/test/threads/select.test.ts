// `select` of searches, a thread, a state and a history: parts that are not selected are not read, and nothing else is returned.
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
let threadId: string;
beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ apiUrl: server.url });
  threadId = (await client.threads.create({ metadata: { customer: 'acme' } })).thread_id;
  await client.runs.wait(threadId, 'chat', { input: { messages: [{ role: 'user', content: 'hello' }] } });
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each([
  [
    'assistants',
    '/assistants/search',
    ['assistant_id', 'graph_id', 'name', 'config', 'context', 'updated_at'],
  ],
  ['threads', '/threads/search', ['thread_id', 'config', 'context', 'values', 'interrupts', 'updated_at']],
  ['crons', '/crons/search', ['cron_id', 'payload', 'user_id', 'metadata', 'now', 'enabled']],
  ['runs', '/runs/search', ['run_id', 'thread_id', 'kwargs', 'cancel_reason']],
])('a search of %s', (noun, path, fields) => {
  it.each(fields)('returns %s alone when only it is selected', async (field) => {
    if (noun === 'crons')
      await server.call('POST', '/runs/crons', { assistant_id: 'chat', schedule: '0 0 1 1 *' });
    const { body } = await server.call('POST', path.replace('/crons', '/runs/crons'), { select: [field] });
    const [first] = body as object[];
    expect(first).toBeDefined();
    // These are absent where they have no value.
    expect(Object.keys(first ?? {})).toEqual(
      ['context', 'cancel_reason'].includes(field) && noun !== 'assistants' ? [] : [field],
    );
  });
});

it.each(['run_id', 'status', 'kwargs'])(
  'a list of runs returns %s alone when only it is selected',
  async (field) => {
    const { body } = await server.call('GET', `/threads/${threadId}/runs?select=${field}`);
    expect((body as object[]).map((run) => Object.keys(run))).toEqual([[field]]);
  },
);

describe('a thread', () => {
  it('has the selected fields only', async () => {
    const thread = await client.threads.get(threadId, { select: ['thread_id', 'metadata', 'status'] });
    expect(thread).toMatchObject({ thread_id: threadId, metadata: { customer: 'acme' }, status: 'idle' });
    expect(Object.keys(thread).toSorted()).toEqual(['metadata', 'status', 'thread_id']);
  });

  it('has its values when they are selected, and by default', async () => {
    const { values } = await client.threads.get(threadId);
    expect(values).toHaveProperty('messages');
    expect(await client.threads.get(threadId, { select: ['values'] })).toEqual({ values });
  });

  it('has no other fields', async () => {
    const { status, body } = await server.call('GET', `/threads/${threadId}?select=secret`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'invalid' });
  });
});

describe('a state', () => {
  it('has single metadata', async () => {
    const whole = await client.threads.getState(threadId);
    const state = await client.threads.getState(threadId, {
      select: ['metadata.step', 'metadata.source', 'metadata.nothing'],
    });
    const { step, source } = whole.metadata;
    expect(state).toEqual({ metadata: { step, source } });
  });

  it('has the names of its nodes instead of what they have written, on request', async () => {
    const history = await client.threads.getHistory(threadId, {
      select: ['nodes', 'metadata.step', 'metadata.writes'],
    });
    for (const { nodes, metadata } of history)
      expect(nodes).toEqual(Object.keys((metadata['writes'] as object | null) ?? {}));
    expect(history.map(({ nodes }) => nodes)).toContainEqual(['__start__']);
    expect(history[0]?.nodes).toHaveLength(1);
    expect(await client.threads.getState(threadId)).not.toHaveProperty('nodes');
  });

  it('has all metadata when they are selected too', async () => {
    const { metadata } = await client.threads.getState(threadId);
    expect(await client.threads.getState(threadId, { select: ['metadata.step', 'metadata'] })).toEqual({
      metadata,
    });
  });
});

it('the state of a thread without checkpoints has no nodes, but the field', async () => {
  const { thread_id } = await client.threads.create();
  expect(await client.threads.getState(thread_id, { select: ['nodes', 'metadata.step'] })).toEqual({
    metadata: {},
    nodes: [],
  });
});
