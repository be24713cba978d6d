// A page of the stock hook `useStream` (its StreamController) that is opened before the first checkpoint of a run. Starts several servers.
import { randomUUID } from 'node:crypto';
import { Client } from '@langchain/langgraph-sdk';
import { StreamController } from '@langchain/langgraph-sdk/stream';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';

/** A server without executors, on whose thread another server has executed a run. */
const openIdle = async () => {
  const api = await startTestServer({ executors: 'none' });
  const thread_id = randomUUID();
  {
    await using _ = await startTestServer({ database: api.database });
    const body = { assistant_id: 'asking', input: { question: '' }, if_not_exists: 'create' };
    await api.call('POST', `/threads/${thread_id}/runs/wait`, body);
  }
  return { api, thread_id };
};

it('a page that is opened while a run has no checkpoint yet shows that run', async () => {
  const { api, thread_id } = await openIdle();
  await using _ = api;
  const nextOf = async (id: string) => {
    const { body } = await api.call('GET', `/threads/${id}/state`);
    return (body as { next: string[] }).next;
  };
  const createRun = (id: string, more: object) =>
    api.call('POST', `/threads/${id}/runs`, { assistant_id: 'asking', if_not_exists: 'create', ...more });
  expect(await nextOf(thread_id)).toEqual([]);
  const delayed = randomUUID();
  await createRun(delayed, { input: { question: '' }, after_seconds: 3_600 });
  expect(await nextOf(delayed)).toEqual([]);
  const empty = randomUUID();
  await createRun(empty, { input: { question: '' } });
  expect(await nextOf(empty)).toEqual(['__start__']);

  const stock = new Client({ apiUrl: api.url });
  const first = new StreamController({ assistantId: 'asking', client: stock, threadId: thread_id });
  await first.hydrationPromise;
  const submitted = first.submit({ question: '"now?"' });
  await eventually(async () => expect(await nextOf(thread_id)).toEqual(['__start__']));
  const second = new StreamController({ assistantId: 'asking', client: stock, threadId: thread_id });
  await second.hydrationPromise;
  await using worker = await startTestServer({ database: api.database });
  const asked = [{ value: 'now?' }];
  await eventually(() => expect(second.rootStore.getSnapshot().interrupts).toMatchObject(asked));
  await submitted;
  expect(await nextOf(thread_id)).toEqual(['ask']);
  const answer = { assistant_id: 'asking', command: { resume: 'yes' } };
  await worker.call('POST', `/threads/${thread_id}/runs/wait`, answer);
  expect(await nextOf(thread_id)).toEqual([]);
  await first.dispose();
  await second.dispose();
});
