// Graphs that misbehave: whatever they do to their executor, the server and the runs of others continue.
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { sendOnce } from './caller.ts';
import { Cluster } from './cluster.ts';
import { resourcesOf, leaks } from './invariants/conduct.ts';
import { getRun, join, startJournal, startRun } from './journal-run.ts';
import { startPostgres } from './postgres.ts';
import { runScenario, type Stage } from './scenario.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const postgres = fixture(() => startPostgres());
const cluster = fixture(() => Cluster.open(postgres, { a: { executors: 2 } }));

const lines = async (file: string): Promise<number> => (await readFile(file, 'utf8')).split('\n').length - 1;

/** A scenario on one node, which must not restart, and must execute other graphs normally at the end. */
const onOneNode = async (
  act: (stage: Stage) => Promise<void>,
  env?: Record<string, string>,
): Promise<void> => {
  await runScenario({
    ...(env ? { postgres, nodes: { a: { executors: 2, env } } } : { cluster }),
    async faults(stage) {
      const { pid } = stage.cluster.node('a');
      await act(stage);
      expect(stage.cluster.node('a').isRunning()).toBe(true);
      expect(stage.cluster.node('a').pid).toBe(pid);
      const other = await startJournal(stage, { steps: 3, ms: 10 });
      expect((await join(stage, other)).body).toMatchObject({ taken: 3 });
    },
  });
};

describe('a graph that', () => {
  it('blocks its event loop for several leases is executed once, and does not delay others', async () => {
    // Long enough for a busy machine to renew the lease.
    const leaseMs = 6_000;
    const spinMs = 3 * leaseMs;
    await onOneNode(
      async (stage) => {
        const file = `${stage.file}.spins`;
        await writeFile(file, '');
        const run = await startRun(stage, 'spinner', { ms: spinMs, file });
        await eventually(async () => expect(await lines(file)).toBe(1));
        let isOver = false;
        const joined = join(stage, run).finally(() => (isOver = true));
        let [answered, slowestMs] = [0, 0];
        while (!isOver) {
          const before = performance.now();
          await sendOnce(stage.cluster.node('a').url, { method: 'GET', path: '/ok' });
          if (!isOver) answered++;
          slowestMs = Math.max(slowestMs, performance.now() - before);
          await stage.sleep(50);
        }
        expect((await joined).body).toMatchObject({ out: 'spun' });
        // More than one in a second, also on a busy machine, and none waited for long.
        expect(answered).toBeGreaterThan(spinMs / 1_000);
        expect(slowestMs).toBeLessThan(leaseMs);
        expect(await lines(file)).toBe(1);
        expect((await getRun(stage, run)).attempt).toBe(1);
      },
      { SVC_LEASE: `${leaseMs}ms` },
    );
  });

  it(
    'exhausts memory ends with an error that names the reason, after three attempts',
    async () => {
      await onOneNode(
        async (stage) => {
          const run = await startRun(stage, 'hog', {});
          expect((await join(stage, run)).body).toMatchObject({ __error__: { message: expect.any(String) } });
          const { status, attempt, error } = await getRun(stage, run);
          expect({ status, attempt }).toEqual({ status: 'error', attempt: 3 });
          expect(error?.message).toMatch(/3 attempts/);
        },
        { NODE_OPTIONS: '--max-old-space-size=128' },
      );
    },
    scaled(180_000),
  );

  it('crashes its process gets three attempts, by one worker at a time', async () => {
    await onOneNode(async (stage) => {
      const file = `${stage.file}.aborts`;
      await writeFile(file, '');
      const run = await startRun(stage, 'aborter', { file });
      expect((await join(stage, run)).body).toMatchObject({ __error__: { message: expect.any(String) } });
      expect(await getRun(stage, run)).toMatchObject({ status: 'error', attempt: 3 });
      expect(await lines(file)).toBe(3);
    });
  });

  it(
    'exits its process ends with an error, and does not affect other runs of the node',
    async () => {
      await onOneNode(async (stage) => {
        const neighbours = await Promise.all(
          Array.from({ length: 6 }, () => startJournal(stage, { steps: 60, ms: 100 })),
        );
        for (const code of [0, 1]) {
          const run = await startRun(stage, 'exiter', { code });
          expect((await join(stage, run)).body).toMatchObject({ __error__: { message: expect.any(String) } });
          expect((await getRun(stage, run)).status).toBe('error');
        }
        for (const run of neighbours) expect((await join(stage, run)).body).toMatchObject({ taken: 60 });
      });
    },
    scaled(180_000),
  );

  it('does not handle a rejected promise continues', async () => {
    await onOneNode(async (stage) => {
      const run = await startRun(stage, 'rejecter', { where: 'promise' });
      expect((await join(stage, run)).body).toMatchObject({ out: 'survived' });
    });
  });

  it('throws in a timer ends with or without an error', async () => {
    await onOneNode(async (stage) => {
      const run = await startRun(stage, 'rejecter', { where: 'timer' });
      await join(stage, run);
      expect(['error', 'success']).toContain((await getRun(stage, run)).status);
    });
  });

  it('never returns times out', async () => {
    await onOneNode(
      async (stage) => {
        const run = await startRun(stage, 'hanger', {});
        await join(stage, run);
        expect((await getRun(stage, run)).status).toBe('timeout');
      },
      { SVC_RUN_TIMEOUT: '2s' },
    );
  });

  it('blocks its event loop forever times out', async () => {
    await onOneNode(
      async (stage) => {
        const run = await startRun(stage, 'spinner', { ms: 600_000 });
        await join(stage, run);
        expect((await getRun(stage, run)).status).toBe('timeout');
      },
      { SVC_RUN_TIMEOUT: '2s' },
    );
  });

  it('ignores its signal is killed with its executor when it is cancelled, and other runs continue', async () => {
    await onOneNode(async (stage) => {
      const neighbours = await Promise.all(
        // Longer than the ten seconds after which the executor is killed.
        Array.from({ length: 4 }, () => startJournal(stage, { steps: 40, ms: 300 })),
      );
      const run = await startRun(stage, 'hanger', {});
      await expect.poll(async () => (await getRun(stage, run)).status).toBe('running');
      const path = `/threads/${run.thread_id}/runs/${run.run_id}/cancel?wait=1`;
      expect((await stage.caller.call({ method: 'POST', path, tryMs: 20_000 })).status).toBeLessThan(300);
      expect((await getRun(stage, run)).status).toBe('interrupted');
      for (const neighbour of neighbours)
        expect((await join(stage, neighbour)).body).toMatchObject({ taken: 40 });
    });
  });

  it('emits more events than readers can receive uses little memory', async () => {
    await onOneNode(async (stage) => {
      await join(stage, await startRun(stage, 'flooder', { events: 10, bytes: 10 }));
      const { pid } = stage.cluster.node('a');
      const before = resourcesOf(pid);
      const run = await startRun(
        stage,
        'flooder',
        { events: 20_000, bytes: 1_000 },
        { more: { stream_mode: 'custom', stream_resumable: true } },
      );
      expect((await join(stage, run)).body).toMatchObject({ out: 'flooded' });
      expect(leaks('a', before, resourcesOf(pid), 150 * 1024 ** 2)).toEqual([]);
    });
  });
});
