// Threads that are deleted during a read or an update: the response is that of before or after, never a mixture.
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { eventually } from '../eventually.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Large enough to be stored apart from its checkpoint. */
const messages = [
  { role: 'user', content: 'This is longer than what a checkpoint holds by itself. '.repeat(4) },
];

const makeThread = async () => {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'chat', { input: { messages } });
  const [run] = await client.runs.list(thread_id);
  return { thread_id, run_id: run?.run_id ?? '' };
};

type Request = [method: string, path: string, body?: unknown];

/** Sends a request that waits for the table while another transaction deletes the thread; returns the response. */
const callDuringDeletion = async (table: string, thread_id: string, [method, path, body]: Request) => {
  let answer: ReturnType<TestServer['call']> | undefined;
  await server.database.transact(async (tx) => {
    await tx.script(`lock table ${table} in access exclusive mode`);
    answer = server.call(method, path, body);
    await eventually(async () => expect(await lockWaiters(server.database)).not.toHaveLength(0));
    expect(await threadStorage(tx).delete(thread_id, everyRow)).toBe(true);
  });
  return answer;
};

const requests: Record<string, (thread: { thread_id: string }) => Request> = {
  'the thread': ({ thread_id }) => ['GET', `/threads/${thread_id}`],
  'its state': ({ thread_id }) => ['GET', `/threads/${thread_id}/state`],
  'a page of its state': ({ thread_id }) => ['GET', `/threads/${thread_id}/state/value?path=/messages`],
  'its history': ({ thread_id }) => ['GET', `/threads/${thread_id}/history`],
  'a change of its metadata': ({ thread_id }) => ['PATCH', `/threads/${thread_id}`, { metadata: { a: 1 } }],
  'an update of its state': ({ thread_id }) => [
    'POST',
    `/threads/${thread_id}/state`,
    { values: { messages }, as_node: 'answer' },
  ],
};

describe('a thread that is deleted meanwhile', () => {
  for (const [what, request] of Object.entries(requests)) {
    // Before the newest checkpoint is read, and between that and its values.
    for (const table of ['checkpoints', 'blobs']) {
      it(`returns 404 for ${what} while the request waits for ${table}`, async () => {
        const thread = await makeThread();
        const answer = await callDuringDeletion(table, thread.thread_id, request(thread));
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
      });
    }
  }

  for (const table of ['checkpoints', 'blobs']) {
    it(`is left out of a search that waits for ${table}`, async () => {
      const [deleted, there] = [await makeThread(), await makeThread()];
      const ids = [deleted.thread_id, there.thread_id];
      const search: Request = ['POST', '/threads/search', { ids, select: ['thread_id', 'values'] }];
      const answer = await callDuringDeletion(table, deleted.thread_id, search);
      expect(answer?.status).toBe(200);
      expect(answer?.body).toMatchObject([{ thread_id: there.thread_id, values: { messages: [{}, {}] } }]);
    });
  }

  it('returns no values to a client that joins its run', async () => {
    const { thread_id, run_id } = await makeThread();
    const join: Request = ['GET', `/threads/${thread_id}/runs/${run_id}/join`];
    expect(await callDuringDeletion('blobs', thread_id, join)).toMatchObject({ status: 200, body: null });
  });

  it('is distinguished from a missing value, which is an internal error', async () => {
    const { thread_id } = await makeThread();
    await server.database.script(`delete from blobs where space = '${thread_id}'`);
    expect(await server.call('GET', `/threads/${thread_id}`)).toMatchObject({ status: 500 });
    const search = { ids: [thread_id], select: ['values'] };
    expect(await server.call('POST', '/threads/search', search)).toMatchObject({ status: 500 });
  });
});
