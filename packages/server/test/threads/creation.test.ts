// The response that creates a thread.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startTestServer } from '../server.ts';

const supersteps = [{ updates: [{ values: { messages: [] }, as_node: 'answer' }] }];

it.each([
  ['an empty thread', {}],
  ['a thread with a state', { metadata: { graph_id: 'chat' }, supersteps }],
])('the response that creates %s has values, and no config', async (_, body) => {
  await using server = await startTestServer();
  const created = (await server.call('POST', '/threads', body)).body as { thread_id: string };
  expect(created).toMatchObject({ status: 'idle', values: {} });
  expect(created).not.toHaveProperty('config');
  expect((await server.call('GET', `/threads/${created.thread_id}`)).body).toMatchObject({ config: {} });
  const again = { thread_id: created.thread_id, if_exists: 'do_nothing' };
  expect((await server.call('POST', '/threads', again)).body).not.toHaveProperty('config');
});

it('with a file of the stock server, threads have their config everywhere, and searches their values', async () => {
  const project = fileURLToPath(new URL('../python-clients/langgraph.json', import.meta.url));
  await using server = await startTestServer({ project, executors: 'none' });
  expect((await server.call('POST', '/threads', {})).body).toMatchObject({ config: {}, values: {} });
  expect((await server.call('POST', '/threads/search', {})).body).toMatchObject([
    { values: {}, interrupts: {} },
  ]);
});
