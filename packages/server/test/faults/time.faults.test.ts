// Clocks that are wrong, or jump.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Caller } from './caller.ts';
import { getRun, join, startJournal } from './journal-run.ts';
import { startPostgres, type FaultyPostgres } from './postgres.ts';
import { rounds, runScenario } from './scenario.ts';
import { scaled } from '../speed.ts';

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

let postgres: FaultyPostgres;
beforeAll(async () => {
  if (!existsSync(library)) throw new Error(`${library} is missing: apt-get install libfaketime`);
  postgres = await startPostgres();
});
afterAll(() => postgres?.[Symbol.asyncDispose]());

/** The wall clock of a process; its monotonic clock stays correct. */
const clock = (offset: string): Record<string, string> => ({
  LD_PRELOAD: library,
  FAKETIME: offset,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

describe('workers whose clocks are', () => {
  it(
    'five minutes slow and one hour fast share the work: leases follow the clock of the database',
    async () => {
      await runScenario({
        postgres,
        nodes: { right: {}, slow: { env: clock('-300s') }, fast: { env: clock('+3600s') } },
        load: { clients: 6, steps: 5, ms: 60 },
        async faults({ cluster, random, note, sleep }) {
          for (let round = 0; round < 2 * rounds; round++) {
            await sleep(1_500);
            const name = random.pick(['right', 'slow', 'fast']);
            note(`kill ${name}`);
            await cluster.node(name).kill();
            await cluster.add(name);
          }
        },
      });
    },
    180_000 * rounds,
  );

  it('far apart take turns on a thread: every checkpoint sorts after its parent', async () => {
    await runScenario({
      postgres,
      nodes: { slow: { env: clock('-300s') }, fast: { env: clock('+3600s') } },
      async faults(stage) {
        const { cluster, random } = stage;
        const first = await startJournal(stage, { steps: 2, ms: 0 });
        await join(stage, first);
        for (let round = 0; round < 6; round++) {
          const { url } = cluster.node(round % 2 === 0 ? 'slow' : 'fast');
          const there = { ...stage, caller: new Caller(() => [url], random) };
          await join(there, await startJournal(there, { steps: 2, ms: 0, thread_id: first.thread_id }));
        }
      },
    });
  });

  it(
    'set forward and back by an hour during runs end no run early, and time out a hanging run',
    async () => {
      const file = `${process.env['TMPDIR'] ?? '/tmp'}/svc-clock-${process.pid}`;
      await writeFile(file, '+0s');
      const env = {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        SVC_RUN_TIMEOUT: '30s',
      };
      await runScenario({
        postgres,
        nodes: { a: { env } },
        async faults(stage) {
          const runs = await Promise.all(
            Array.from({ length: 4 }, () => startJournal(stage, { steps: 25, ms: 200 })),
          );
          for (const jump of ['+3600s', '-3600s', '+0s']) {
            await stage.sleep(1_500);
            stage.note(`set the clock ${jump}`);
            await writeFile(file, jump);
          }
          for (const run of runs) {
            expect((await join(stage, run)).body).toMatchObject({ taken: 25 });
            expect(await getRun(stage, run)).toMatchObject({ status: 'success', attempt: 1 });
          }
          const hanging = await startJournal(stage, { steps: 1, ms: 600_000 });
          await stage.sleep(1_000);
          await writeFile(file, '-3600s');
          await join(stage, hanging);
          expect((await getRun(stage, hanging)).status).toBe('timeout');
        },
      });
    },
    scaled(180_000),
  );
});
