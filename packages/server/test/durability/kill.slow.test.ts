// Acknowledged data, of threads and of traces, survives kill -9 of every process. Runs a few rounds by default; SVC_KILL_ROUNDS sets the
// number (npm run test:durability: 50).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@svc/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { testProject } from '../server.ts';
import { SentTraces } from './sent-traces.ts';
import { startSvc, type SvcProcess } from './svc-process.ts';
import { scaled } from '../speed.ts';
import { sharedFolder } from '../folders.ts';

const rounds = Number(process.env['SVC_KILL_ROUNDS'] ?? 4);

interface Acknowledged {
  thread_id: string;
  values: unknown;
  assistant_id: string;
}

const dataDir = sharedFolder();
let last: SvcProcess | undefined;
afterAll(async () => {
  await last?.killAll();
});

/** Creates threads, runs, updates, assistants and items, each acknowledged before the next. */
const work = async (url: string, round: number): Promise<Acknowledged> => {
  const client = createClient({ apiUrl: url });
  const assistant = await client.assistants.create({ graph_id: 'chat', name: `round ${round}` });
  await client.store.put(['rounds'], String(round), { round });
  const { thread_id } = await client.threads.create({ metadata: { round } });
  await client.runs.wait(thread_id, assistant.assistant_id, {
    input: { messages: [{ role: 'user', content: `r${round}` }] },
  });
  const values = await client.runs.wait(thread_id, 'chat', {
    input: { messages: [{ role: 'user', content: 'last' }] },
    durability: 'async',
  });
  return { thread_id, values, assistant_id: assistant.assistant_id };
};

const check = async (
  url: string,
  round: number,
  { thread_id, values, assistant_id }: Acknowledged,
): Promise<void> => {
  const client = createClient({ apiUrl: url });
  expect(await client.threads.get(thread_id)).toMatchObject({ metadata: { round }, values, status: 'idle' });
  const [state, history, runs] = await Promise.all([
    client.threads.getState(thread_id),
    client.threads.getHistory(thread_id, { limit: 100 }),
    client.runs.list(thread_id),
  ]);
  expect(state.values).toEqual(values);
  expect(history).toHaveLength(6);
  expect(runs.map((run) => run.status)).toEqual(['success', 'success']);
  expect((await client.assistants.get(assistant_id)).name).toBe(`round ${round}`);
  expect(await client.store.get(['rounds'], String(round))).toMatchObject({ value: { round } });
};

describe('kill -9 of every process', () => {
  it(
    `loses nothing that was acknowledged, and stores no trace twice, in ${rounds} rounds`,
    async () => {
      const traces = new SentTraces();
      let before: { round: number; acknowledged: Acknowledged } | undefined;
      let key = '';
      for (let round = 0; round < rounds; round++) {
        last = await startSvc(dataDir, testProject);
        key = (await readFile(join(dataDir, 'admin-key'), 'utf8')).trim();
        if (before) await check(last.url, before.round, before.acknowledged);
        await traces.checkLast(last.url, key);
        let accepted = 0;
        const sending = traces.send(last.url, key, () => accepted++);
        const acknowledged = await work(last.url, round);
        await eventually(() => expect(accepted).toBeGreaterThan(2));
        // Alternately right after the response, and at any moment of the batches that are being sent.
        await sleep(round % 2 === 0 ? 1 : Math.random() * 300);
        await last.killAll();
        await sending;
        before = { round, acknowledged };
      }
      last = await startSvc(dataDir, testProject);
      if (before) await check(last.url, before.round, before.acknowledged);
      await traces.checkAll(last.url, key);
      expect(traces.acknowledged).toBeGreaterThan(rounds * 10);
    },
    scaled(1_200_000),
  );

  it(
    'leaves no thread busy: a lost run continues after the restart, long before its lease ends',
    async () => {
      await last?.killAll();
      last = await startSvc(dataDir, testProject, { lease: '1h' });
      const client = createClient({ apiUrl: last.url });
      const { thread_id } = await client.threads.create();
      const run = await client.runs.create(thread_id, 'probe', { input: { do: 'hangOnce' } });
      await eventually(async () => {
        expect((await client.runs.get(thread_id, run.run_id)).status).toBe('running');
      });
      await last.killAll();
      last = await startSvc(dataDir, testProject, { lease: '1h' });
      const again = createClient({ apiUrl: last.url });
      expect(await again.runs.join(thread_id, run.run_id)).toMatchObject({ out: 'continued' });
      expect(await again.runs.get(thread_id, run.run_id)).toMatchObject({
        status: 'success',
        attempt: 2,
        lost_attempts: [
          {
            worker: 'gone',
            message: expect.stringMatching(
              /^The process of worker .* ended while it held lease 1$/,
            ) as string,
          },
        ],
      });
      expect((await again.threads.get(thread_id)).status).toBe('idle');
    },
    scaled(120_000),
  );
});
