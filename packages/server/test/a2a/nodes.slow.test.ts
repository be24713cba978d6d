// Two nodes on one database: a task that one node executes is streamed, read and continued by the other.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { dataMessage, rpcTo, textMessage, type WireTask } from './agent.ts';

let database: TestDatabase;
let nodes: [TestServer, TestServer];
beforeAll(async () => {
  database = await testDatabase();
  nodes = [await startTestServer({ database }), await startTestServer({ database })];
});
afterAll(async () => {
  for (const node of nodes) await node[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const call = async (node: number, agent: string, method: string, params: object): Promise<WireTask> => {
  const { body } = await rpcTo(nodes[node] as TestServer, agent)(method, params);
  expect(body.error).toBeUndefined();
  return body.result as unknown as WireTask;
};

/** The results in the events of a stream, which has ended. */
const resultsIn = (text: string): Record<string, unknown>[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data = '']) => (JSON.parse(data) as { result: Record<string, unknown> }).result,
  );

it('streams and cancels a task of another node', async () => {
  const message = dataMessage({ do: 'hang' });
  const { id } = await call(0, 'probe', 'message/send', { message, configuration: { blocking: false } });
  await eventually(async () =>
    expect((await call(1, 'probe', 'tasks/get', { id })).status.state).toBe('working'),
  );
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id } });
  const headers = { 'content-type': 'application/json' };
  // The subscriptions have begun when the headers arrive.
  const followed = await Promise.all(
    nodes.map(({ url }) => fetch(`${url}/a2a/probe`, { method: 'POST', headers, body })),
  );
  expect((await call(1, 'probe', 'tasks/cancel', { id })).status.state).toBe('canceled');
  for (const response of followed) {
    const results = resultsIn(await response.text());
    expect(results[0]).toMatchObject({ kind: 'task', id });
    expect(results.at(-1)).toMatchObject({ final: true, status: { state: 'canceled' } });
  }
});

it('continues a task that another node has interrupted', async () => {
  const { id } = await call(0, 'approval', 'message/send', { message: dataMessage({}) });
  const message = textMessage('yes', { taskId: id });
  const [done, repeated] = await Promise.all(
    [1, 0].map((node) => call(node, 'approval', 'message/send', { message })),
  );
  expect(done).toMatchObject({ id, status: { state: 'completed' } });
  expect(repeated).toEqual(done);
});
