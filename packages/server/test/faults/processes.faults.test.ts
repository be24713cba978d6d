// Processes that are killed, frozen and stopped under load.
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import type { Cluster } from './cluster.ts';
import { getRun, join, type JournalRun, lostWith, startJournal } from './journal-run.ts';
import { leaseMs } from './node-process.ts';
import type { FaultyPostgres } from './postgres.ts';
import { rounds, runScenario, type Stage } from './scenario.ts';
import { apis, openSplitCluster, workers } from './split-cluster.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const opened = fixture(() => openSplitCluster());
let postgres: FaultyPostgres;
let cluster: Cluster;
beforeAll(async () => {
  ({ postgres, cluster } = opened);
});

/** The time from `since` to the claim of a run's second attempt, in milliseconds by the clock of the database. */
const untilClaimedAgain = async ({ cluster }: Stage, run_id: string, since: string): Promise<number> => {
  let ms: number | undefined;
  await eventually(async () => {
    const [claim] = await cluster.query<{ ms: number }>(
      `select extract(epoch from at - $2::timestamptz)::float8 * 1000 as ms from faults.claims
         where run_id = $1 and at > $2::timestamptz order by at limit 1`,
      [run_id, since],
    );
    ms = claim?.ms;
    expect(ms).toBeDefined();
  }, 60_000);
  return ms ?? Infinity;
};

const databaseTime = async ({ cluster }: Stage): Promise<string> =>
  (await cluster.query<{ now: string }>('select clock_timestamp()::text as now'))[0]?.now ?? '';

/** The node that executes a run, and its lease, once it has committed a step: the loss of the attempt is not charged from then on. */
const holderWithProgress = async (
  { cluster }: Stage,
  run_id: string,
): Promise<{ name: string; lease_token: number }> =>
  eventually(async () => {
    const [holder] = await cluster.query<{ name: string; lease_token: number }>(
      `select c.node as name, c.lease_token::integer from faults.claims c join runs r using (run_id, lease_token)
       where r.run_id = $1 and r.status = 'running' and r.progress_token = r.lease_token`,
      [run_id],
    );
    if (!holder) throw new Error('The run has not committed a step');
    return holder;
  }, 60_000);

/** Checks that the run has succeeded, and that the attempt with this lease was lost and not charged. */
const expectResumed = async (stage: Stage, run: JournalRun, lease_token: number): Promise<void> => {
  const record = await getRun(stage, run);
  expect(record.status).toBe('success');
  expect(lostWith(record, lease_token)).toMatchObject([{ charged: false }]);
  // On a busy machine, the other worker may lose its lease too.
  const charged = record.lost_attempts?.filter((lost) => lost.charged) ?? [];
  expect(record.attempt).toBe(1 + charged.length);
};

/** The node that executes a run. */
const holder = async ({ cluster }: Stage, run_id: string): Promise<string> => {
  let name: string | undefined;
  await eventually(async () => {
    const [claim] = await cluster.query<{ node: string }>(
      'select node from faults.claims where run_id = $1 order by lease_token desc limit 1',
      [run_id],
    );
    name = claim?.node;
    expect(name).toBeDefined();
  }, 60_000);
  return name ?? '';
};

const untilExecuting = async (stage: Stage, marker: string): Promise<void> => {
  await eventually(async () =>
    expect((await stage.executed()).some(({ entry }) => entry.startsWith(marker))).toBe(true),
  );
};

describe('kill -9', () => {
  it(
    'of workers under load: their runs resume elsewhere, no step counts twice, and streams have no gap',
    async () => {
      await runScenario({
        cluster,
        load: { clients: 6, steps: 6, ms: 120 },
        async faults({ cluster, random, note, sleep }) {
          const kills = 10 * rounds;
          for (let kill = 0; kill < kills; kill++) {
            await sleep(random.between(0, 800));
            const name = random.pick(Object.keys(workers));
            note(`kill ${name}`);
            await cluster.node(name).kill();
            await cluster.add(name);
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'of a worker every few seconds: every acknowledged run ends',
    async () => {
      const minutes = rounds > 1 ? 2 : 0.25;
      await runScenario({
        cluster,
        load: { clients: 8 },
        async faults({ cluster, random, note, sleep }) {
          const end = performance.now() + minutes * 60_000;
          while (performance.now() < end) {
            await sleep(5_000);
            const name = random.pick(Object.keys(workers));
            note(`kill ${name}`);
            await cluster.node(name).kill();
            await cluster.add(name);
          }
        },
      });
    },
    scaled(300_000),
  );

  it('of a worker: another worker has its run within twice the lease', async () => {
    await runScenario({
      cluster,
      async faults(stage) {
        const run = await startJournal(stage, { steps: 30, ms: 200 });
        const { name, lease_token } = await holderWithProgress(stage, run.run_id);
        const since = await databaseTime(stage);
        await stage.cluster.node(name).kill();
        stage.note(`kill ${name}`);
        expect(await untilClaimedAgain(stage, run.run_id, since)).toBeLessThan(2 * leaseMs);
        expect((await join(stage, run)).body).toMatchObject({ taken: 30 });
        await expectResumed(stage, run, lease_token);
      },
    });
  });

  if (rounds > 1)
    it('of a worker with default settings: another worker has its run within 45 seconds', async () => {
      const env = { SVC_LEASE: '30s' };
      await runScenario({
        postgres,
        nodes: {
          api1: { ...apis.api1, env },
          worker1: { role: 'worker', env },
          worker2: { role: 'worker', env },
        },
        async faults(stage) {
          const run = await startJournal(stage, { steps: 3, ms: 1_000 });
          const name = await holder(stage, run.run_id);
          await untilExecuting(stage, run.marker);
          const since = await databaseTime(stage);
          await stage.cluster.node(name).kill();
          expect(await untilClaimedAgain(stage, run.run_id, since)).toBeLessThan(45_000);
          expect((await join(stage, run)).body).toMatchObject({ taken: 3 });
        },
      });
    });

  it(
    'of one executor: the server detects it, and its runs resume',
    async () => {
      await runScenario({
        postgres,
        nodes: { a: { executors: 2 } },
        load: { steps: 5, ms: 100 },
        async faults({ cluster, random, note, sleep }) {
          for (let kill = 0; kill < 5 * rounds; kill++) {
            await sleep(random.between(300, 1_500));
            note('kill an executor');
            await eventually(() => cluster.node('a').killExecutor());
          }
          expect(cluster.node('a').isRunning()).toBe(true);
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'of a server only: its executors write nothing more',
    async () => {
      await runScenario({
        cluster,
        load: { actions: ['background', 'wait'], steps: 6, ms: 100 },
        async faults({ cluster, random, note, sleep }) {
          for (let kill = 0; kill < 2 * rounds; kill++) {
            await sleep(random.between(500, 1_500));
            const name = random.pick(Object.keys(workers));
            note(`kill the server of ${name}`);
            await cluster.node(name).killServer();
            await cluster.add(name);
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'of a worker that has committed the end of a run before it got the response',
    async () => {
      await runScenario({
        cluster,
        async faults(stage) {
          const { cluster, note } = stage;
          for (let round = 0; round < 2 * rounds; round++) {
            const run = await startJournal(stage, { steps: 50, ms: 100 });
            const name = await holder(stage, run.run_id);
            await cluster.network(name).dropReplyOnce('commit_batch_');
            note(`kill ${name} after a flush`);
            await cluster.node(name).kill();
            expect((await join(stage, run)).body).toMatchObject({ taken: 50 });
            await cluster.add(name);
          }
        },
        async after(stage) {
          expect((await stage.executed()).length).toBeGreaterThan(0);
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'of a server that has created a run before it responded: a retry at another node finds the run',
    async () => {
      await runScenario({
        cluster,
        async faults(stage) {
          const { cluster, note } = stage;
          for (let round = 0; round < 3 * rounds; round++) {
            const lost = ['api1', 'api2'].map(async (name) => {
              await cluster.network(name).dropReplyOnce('create_run_');
              return name;
            });
            const killed = Promise.race(lost).then(async (name) => {
              note(`kill ${name} after it has made a run`);
              await cluster.node(name).kill();
              return name;
            });
            const run = await startJournal(stage, { steps: 1, ms: 0 });
            await join(stage, run);
            await cluster.add(await killed);
            for (const name of Object.keys(apis)) cluster.network(name).pass();
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'of all processes, repeatedly: pending and running runs resume',
    async () => {
      await runScenario({
        postgres,
        nodes: { a: {}, b: {} },
        load: {},
        async faults({ cluster, random, note, sleep }) {
          for (let round = 0; round < 3 * rounds; round++) {
            await sleep(random.between(500, 2_000));
            note('kill everything');
            await Promise.all(cluster.nodes.map((node) => node.kill()));
            await Promise.all([cluster.add('a'), cluster.add('b')]);
          }
          await sleep(1_000);
        },
      });
    },
    180_000 * rounds,
  );
});

describe('a worker that is frozen', () => {
  it('changes nothing when it thaws after another worker has executed its run', async () => {
    await runScenario({
      cluster,
      async faults(stage) {
        const { cluster, note, sleep } = stage;
        const run = await startJournal(stage, { steps: 30, ms: 200, more: { stream_resumable: true } });
        const { name, lease_token } = await holderWithProgress(stage, run.run_id);
        note(`freeze ${name}`);
        cluster.node(name).freeze();
        expect((await join(stage, run)).body).toMatchObject({ taken: 30 });
        note(`thaw ${name}`);
        cluster.node(name).thaw();
        // Long enough for the work that it had started, and for some tries to store it.
        await sleep(3 * leaseMs);
        await expectResumed(stage, run, lease_token);
        const other = await startJournal(stage, { steps: 2, ms: 10 });
        expect((await join(stage, other)).body).toMatchObject({ taken: 2 });
      },
    });
  });

  it(
    'under load, repeatedly: nothing is lost and nothing counts twice',
    async () => {
      await runScenario({
        cluster,
        load: { steps: 5, ms: 80 },
        async faults({ cluster, random, note, sleep }) {
          for (let round = 0; round < 2 * rounds; round++) {
            const name = random.pick(Object.keys(workers));
            note(`freeze ${name}`);
            cluster.node(name).freeze();
            await sleep(random.between(leaseMs / 2, 3 * leaseMs));
            note(`thaw ${name}`);
            cluster.node(name).thaw();
            await sleep(random.between(200, 1_000));
          }
        },
      });
    },
    180_000 * rounds,
  );
});
