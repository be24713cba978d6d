// Processes that get a stop signal under load, as in rolling deployments.
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { sendOnce } from './caller.ts';
import { busyNodes, getRun, join, startJournal } from './journal-run.ts';
import type { SvcNode } from './node-process.ts';
import { startPostgres } from './postgres.ts';
import { rounds, runScenario } from './scenario.ts';
import { fixture } from '../fixture.ts';
import { scaled } from '../speed.ts';

const postgres = fixture(() => startPostgres());

const stops = async (node: SvcNode): Promise<number | null> => (await node.exit).code;

/** Waits until the node has received the stop signal. */
const untilNotReady = (url: string): Promise<void> =>
  eventually(async () => expect((await sendOnce(url, { method: 'GET', path: '/ready' })).status).toBe(503));

describe('a stopping server', () => {
  it('finishes short runs, claims no new ones, and gives long ones back at their next superstep', async () => {
    await runScenario({
      postgres,
      nodes: { a: {} },
      async faults(stage) {
        const { cluster, note } = stage;
        const short = await Promise.all(
          Array.from({ length: 5 }, () => startJournal(stage, { steps: 1, ms: 400 })),
        );
        const long = await Promise.all(
          Array.from({ length: 5 }, () => startJournal(stage, { steps: 60, ms: scaled(100) })),
        );
        await eventually(async () => {
          const text = `select count(*)::integer as count from runs where status = 'running' or status = 'success'`;
          expect(await cluster.query(text)).toEqual([{ count: 10 }]);
        });
        const { url } = cluster.node('a');
        note('terminate a');
        cluster.node('a').terminate();
        await untilNotReady(url);
        expect((await sendOnce(url, { method: 'GET', path: '/ok' })).status).toBe(200);
        expect(await stops(cluster.node('a'))).toBe(0);
        const rows = await cluster.query<{ run_id: string; status: string }>(
          'select run_id, status from runs',
        );
        const statusOf = new Map(rows.map(({ run_id, status }) => [run_id, status]));
        expect(short.map(({ run_id }) => statusOf.get(run_id))).toEqual(short.map(() => 'success'));
        expect(long.map(({ run_id }) => statusOf.get(run_id))).toEqual(long.map(() => 'pending'));
        await cluster.add('a');
        for (const run of long) {
          expect((await join(stage, run)).body).toMatchObject({ taken: 60 });
          expect((await getRun(stage, run)).attempt).toBe(1);
        }
      },
    });
  });

  it('stops at once at the second signal', async () => {
    const graceMs = 120_000;
    const env = { SVC_SHUTDOWN_GRACE: `${graceMs}ms`, SVC_LEASE: '30s' };
    await runScenario({
      postgres,
      nodes: { a: { env }, b: { env } },
      async faults(stage) {
        const { cluster, note, sleep } = stage;
        const gate = `${stage.file}.gate`;
        // More than one node may have at a time. No run ends before the gate is open.
        const runs = await Promise.all(
          Array.from({ length: 12 }, () => startJournal(stage, { steps: 30, ms: 10, gate })),
        );
        await eventually(async () => expect(await busyNodes(stage)).toEqual(['a', 'b']));
        const before = performance.now();
        note('terminate a twice');
        cluster.node('a').terminate();
        await untilNotReady(cluster.node('a').url);
        await sleep(700); // two signals that arrive together count as one: a terminal and npm each send one
        cluster.node('a').terminate();
        expect(await stops(cluster.node('a'))).toBe(0);
        expect(performance.now() - before).toBeLessThan(graceMs / 4);
        await writeFile(gate, '');
        for (const run of runs) {
          expect((await join(stage, run)).body).toMatchObject({ taken: 30 });
          expect((await getRun(stage, run)).attempt).toBe(1);
        }
      },
    });
  });

  it('costs a run no attempt: a run survives more stops than it has attempts', async () => {
    await runScenario({
      postgres,
      // The kill is noticed before the lease ends, and a busy machine loses no lease besides.
      nodes: { a: { env: { SVC_SHUTDOWN_GRACE: '0s', SVC_LEASE: '30s' } } },
      async faults(stage) {
        const { cluster, note } = stage;
        const run = await startJournal(stage, { steps: 40, ms: 150, more: { durability: 'sync' } });
        for (let round = 0; round < 5; round++) {
          await expect
            .poll(async () => (await getRun(stage, run)).status, { timeout: 30_000 })
            .toBe('running');
          note('terminate a');
          cluster.node('a').terminate();
          expect(await stops(cluster.node('a'))).toBe(0);
          await cluster.add('a');
        }
        await expect.poll(async () => (await getRun(stage, run)).status, { timeout: 30_000 }).toBe('running');
        note('kill a');
        await cluster.node('a').kill();
        await cluster.add('a');
        expect((await join(stage, run)).body).toMatchObject({ taken: 40 });
        expect((await getRun(stage, run)).lost_attempts).toHaveLength(1);
      },
    });
  });

  it(
    'is replaced under load, one node after the other, and no client gets an error',
    async () => {
      await runScenario({
        postgres,
        nodes: { a: { env: { SVC_SHUTDOWN_GRACE: '2s' } }, b: { env: { SVC_SHUTDOWN_GRACE: '2s' } } },
        load: { clients: 8, steps: 4, ms: 60 },
        async faults({ cluster, note, sleep }) {
          for (let round = 0; round < 2 * rounds; round++) {
            for (const name of ['a', 'b']) {
              await sleep(1_000);
              note(`replace ${name}`);
              const old = cluster.node(name);
              const started = cluster.add(name);
              await started;
              old.terminate();
              expect(await stops(old)).toBe(0);
            }
          }
        },
        after: ({ history }) => {
          expect(history.of('failed')).toEqual([]);
          return Promise.resolve();
        },
      });
    },
    180_000 * rounds,
  );
});
