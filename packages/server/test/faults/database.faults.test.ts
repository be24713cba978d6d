// A database or network that fails under load.
import { describe, expect, it } from 'vitest';
import { statements as checkpoints } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import { statements as creation } from '../../src/storage/deployment/runs/run-creation.ts';
import { statements as leases } from '../../src/storage/deployment/runs/run-leases.ts';
import { statements as threads } from '../../src/storage/deployment/threads/threads.ts';
import { eventually } from '../eventually.ts';
import { Cluster } from './cluster.ts';
import { busyNodes, getRun, join, lostWith, startJournal } from './journal-run.ts';
import { leaseMs } from './node-process.ts';
import { startPostgres } from './postgres.ts';
import { rounds, runScenario } from './scenario.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const nodes = {
  api1: { role: 'api' },
  api2: { role: 'api' },
  worker1: { role: 'worker' },
  worker2: { role: 'worker' },
} as const;

const postgres = fixture(() => startPostgres());
const cluster = fixture(() => Cluster.open(postgres, nodes));

describe('a PostgreSQL that', () => {
  it(
    'crashes repeatedly loses nothing, and no client gets an internal error',
    async () => {
      await runScenario({
        cluster,
        load: { clients: 6 },
        async faults({ random, note, sleep }) {
          for (let crash = 0; crash < 4 * rounds; crash++) {
            await sleep(random.between(1_000, 3_000));
            note('crash PostgreSQL');
            await postgres.restart('immediate');
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'is down for a while keeps every run, and no run uses up its attempts',
    async () => {
      const executors = () => ['worker1', 'worker2'].map((name) => cluster.node(name).executors());
      await runScenario({
        cluster,
        async faults(stage) {
          // More than one worker may have at a time.
          const runs = await Promise.all(
            Array.from({ length: 12 }, () => startJournal(stage, { steps: 40, ms: 200 })),
          );
          // A worker without runs would keep its executor.
          await eventually(async () => expect(await busyNodes(stage)).toEqual(['worker1', 'worker2']));
          const first = executors().flat();
          stage.note('stop PostgreSQL');
          await postgres.stop('fast');
          // The runs lose their leases, so each worker replaces its executor. The new executors wait for the database.
          const waiting = await eventually(() => {
            const now = executors();
            expect(now.map((pids) => pids.length)).toEqual([1, 1]);
            for (const pid of now.flat()) expect(first).not.toContain(pid);
            return Promise.resolve(now);
          }, 8 * leaseMs);
          await stage.sleep(rounds > 1 ? 60_000 : 2 * leaseMs);
          expect(executors()).toEqual(waiting);
          stage.note('start PostgreSQL');
          await postgres.start();
          for (const run of runs) {
            expect((await join(stage, run)).body).toMatchObject({ taken: 40 });
            expect((await getRun(stage, run)).attempt).toBeLessThanOrEqual(2);
          }
        },
      });
    },
    scaled(240_000),
  );

  it(
    'ends random sessions loses nothing, and no process keeps using ended sessions',
    async () => {
      await runScenario({
        cluster,
        load: { clients: 6 },
        async faults({ cluster, note, sleep }) {
          note('end sessions, five times a second');
          for (let tick = 0; tick < 25 * rounds; tick++) {
            await sleep(200);
            await postgres.terminateBackends(cluster.database, 1);
          }
        },
        async after() {
          const sessions = await cluster.query<{ node: string; count: number }>(
            `select application_name as node, count(*)::integer as count from pg_stat_activity
           where datname = current_database() and application_name <> 'observer' group by 1`,
          );
          // The server's pool, its executor's pool, and the listening connections.
          for (const { node, count } of sessions)
            expect({ node, isBounded: count <= 24 }).toEqual({ node, isBounded: true });
        },
      });
    },
    180_000 * rounds,
  );
});

describe('a network that', () => {
  it('drops the packets of one worker: it stops before its lease ends, and another worker continues', async () => {
    // A worker ends its executor a twelfth of a lease before its lease ends: on a busy machine, that takes longer than a process needs to
    // be killed only with a long lease.
    const env = { SVC_LEASE: '6s' };
    await runScenario({
      postgres,
      nodes: { api1: { role: 'api' }, worker1: { role: 'worker', env }, worker2: { role: 'worker', env } },
      async faults(stage) {
        const { cluster, note } = stage;
        // Executes for longer than a lease.
        const run = await startJournal(stage, { steps: 100, ms: 100 });
        await eventually(async () => expect((await stage.executed()).length).toBeGreaterThan(3));
        const claims = await cluster.query<{ node: string; lease_token: number }>(
          'select node, lease_token::integer from faults.claims where run_id = $1 order by lease_token',
          [run.run_id],
        );
        const { node: name = '', lease_token = 0 } = claims.at(-1) ?? {};
        note(`drop the packets of ${name}`);
        const cut = cluster.node(name).executors();
        cluster.network(name).blackhole();
        expect((await join(stage, run)).body).toMatchObject({ taken: 100 });
        const [taken] = await cluster.query<{ at: number }>(
          `select extract(epoch from at)::float8 * 1000 as at from faults.claims
           where run_id = $1 and lease_token > $2 order by lease_token limit 1`,
          [run.run_id, lease_token],
        );
        const executedLater = (await stage.executed()).filter(
          ({ pid, at }) => cut.includes(pid) && at > (taken?.at ?? 0),
        );
        expect(executedLater).toEqual([]);
        note(`let ${name} speak`);
        cluster.network(name).pass();
        expect(lostWith(await getRun(stage, run), lease_token)).toHaveLength(1);
        const other = await startJournal(stage, { steps: 2, ms: 10 });
        expect((await join(stage, other)).body).toMatchObject({ taken: 2 });
      },
    });
  });

  it(
    'drops the packets of one node after the other, under load',
    async () => {
      await runScenario({
        cluster,
        load: { clients: 6, steps: 5, ms: 80 },
        async faults({ random, note, sleep }) {
          for (let round = 0; round < 2 * rounds; round++) {
            const name = random.pick(['worker1', 'worker2']);
            note(`drop the packets of ${name}`);
            cluster.network(name).blackhole();
            await sleep(random.between(leaseMs, 4 * leaseMs));
            cluster.network(name).pass();
            note(`let ${name} speak`);
            await sleep(1_000);
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'resets connections in the middle of statements',
    async () => {
      await runScenario({
        cluster,
        load: { clients: 6 },
        async faults({ random, note, sleep }) {
          note('reset the connections of any node, again and again');
          for (let reset = 0; reset < 20 * rounds; reset++) {
            await sleep(random.between(50, 400));
            cluster.network(random.pick(Object.keys(nodes))).reset();
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'truncates responses',
    async () => {
      await runScenario({
        cluster,
        load: { clients: 6 },
        async faults({ random, note, sleep }) {
          note('cut the answers to any node after some bytes');
          for (let cut = 0; cut < 15 * rounds; cut++) {
            await sleep(random.between(100, 400));
            cluster.network(random.pick(Object.keys(nodes))).cutAfter(random.between(1, 5_000));
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'loses the response to a commit: the commit is applied once',
    async () => {
      const statements = [
        creation.create,
        threads.create,
        checkpoints.commit,
        leases.claim,
        leases.renew,
      ].map(({ name }) => name);
      await runScenario({
        cluster,
        load: {
          clients: 6,
          actions: ['wait', 'stream', 'background', 'double', 'cancel', 'delete', 'delete'],
        },
        async faults({ note }) {
          for (let round = 0; round < 2 * rounds; round++) {
            for (const statement of statements) {
              // For any node that sends it: nodes of another role never do.
              const losers: string[] = [];
              for (const name of Object.keys(nodes))
                void cluster
                  .network(name)
                  .dropReplyOnce(statement)
                  .then(() => losers.push(name));
              await expect.poll(() => losers.length, { timeout: 30_000 }).toBeGreaterThan(0);
              note(`${losers.join(' and ')} lost the answer to ${statement}`);
              for (const name of Object.keys(nodes)) cluster.network(name).pass();
            }
          }
        },
      });
    },
    180_000 * rounds,
  );

  it('is slow loses no lease', async () => {
    await runScenario({
      postgres,
      nodes: { a: {}, b: {} },
      load: { clients: 3, steps: 3, ms: 20, actions: ['wait', 'background'] },
      async faults({ cluster, note, sleep }) {
        note('50 ms each way');
        for (const name of ['a', 'b']) cluster.network(name).delay(50);
        await sleep(5_000);
        const lost = await cluster.query('select 1 from runs where attempt > 1');
        expect(lost).toEqual([]);
      },
    });
  });
});
