// Requests that a server has acknowledged, and a check that another server has their results.
import { randomUUID } from 'node:crypto';
import { createClient } from '@svc/sdk';
import { expect } from 'vitest';
import { postTraces } from '../durability/sent-traces.ts';

export interface Acknowledged {
  thread_id: string;
  values: unknown;
  item: string;
  cron_id: string;
  traces: string[];
}

export const message = (content: string) => ({ messages: [{ role: 'user', content }] });

/** Each request was acknowledged before the next one. */
export const work = async (url: string, key: string): Promise<Acknowledged> => {
  const client = createClient({ apiUrl: url });
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'chat', { input: message('one') });
  const values = await client.runs.wait(thread_id, 'chat', { input: message('two') });
  await client.store.put(['drill'], thread_id, { thread_id });
  const { cron_id } = await client.crons.create(null, 'chat', {
    schedule: '0 0 1 1 *',
    input: message('cron'),
  });
  const traces = Array.from({ length: 10 }, () => randomUUID());
  const start_time = new Date().toISOString();
  const post = traces.map((id) => ({ id, name: 'x', start_time, inputs: { text: id.repeat(50) } }));
  const { status } = await postTraces(url, key, '/runs/batch', { post });
  expect(status).toBe(202);
  return { thread_id, values, item: thread_id, cron_id, traces };
};

/** The attempts of its runs that were lost, charged or not. */
export const lostAttempts = async (url: string, done: readonly Acknowledged[]): Promise<unknown[]> => {
  const client = createClient({ apiUrl: url });
  const runs = await Promise.all(done.map(({ thread_id }) => client.runs.list(thread_id)));
  return runs
    .flat()
    .flatMap(({ attempt, lost_attempts }) => [
      ...(lost_attempts ?? []),
      ...(attempt === 1 ? [] : [{ attempt }]),
    ]);
};

export const check = async (url: string, key: string, expected: Acknowledged): Promise<void> => {
  const client = createClient({ apiUrl: url });
  const { thread_id, values, item, cron_id, traces } = expected;
  expect(await client.threads.get(thread_id)).toMatchObject({ values, status: 'idle' });
  expect(await client.threads.getHistory(thread_id, { limit: 100 })).toHaveLength(6);
  expect((await client.runs.list(thread_id)).map(({ status }) => status)).toEqual(['success', 'success']);
  expect(await client.store.get(['drill'], item)).toMatchObject({ value: { thread_id } });
  expect((await client.crons.search({ limit: 1_000 })).map((cron) => cron.cron_id)).toContain(cron_id);
  const response = await postTraces(url, key, '/runs/query', { id: traces });
  const { runs } = (await response.json()) as { runs: { id: string; inputs: { text: string } }[] };
  expect(runs.map(({ id }) => id).toSorted()).toEqual(traces.toSorted());
  for (const { id, inputs } of runs) expect(inputs.text).toBe(id.repeat(50));
};
