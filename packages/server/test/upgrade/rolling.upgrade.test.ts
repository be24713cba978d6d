// Two nodes of the previous release are replaced by nodes of this one, then by the previous one, then again, while clients work.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../faults/cluster.ts';
import { getRun, join, type JournalRun, startJournal } from '../faults/journal-run.ts';
import { type Release, thisRelease } from '../faults/node-process.ts';
import { type FaultyPostgres, startPostgres } from '../faults/postgres.ts';
import { runScenario, type Stage } from '../faults/scenario.ts';
import { LoadBalancer } from './load-balancer.ts';
import { migrateWith, openPreviousRelease } from './releases.ts';
import { tableOf, Traffic } from './traffic.ts';

const names = ['a', 'b'];
const env = { SVC_SHUTDOWN_GRACE: '2s' };

let previous: Release;
let postgres: FaultyPostgres;
let cluster: Cluster;

const uriOf = (database: string): string => `postgresql://svc@127.0.0.1:${postgres.port}/${database}`;

describe('a rolling upgrade', () => {
  beforeAll(async () => {
    previous = await openPreviousRelease();
    postgres = await startPostgres({
      migrateTemplate: async ({ port, database }) => {
        await migrateWith(previous, `postgresql://svc@127.0.0.1:${port}/${database}`);
      },
    });
    cluster = await Cluster.open(postgres, {
      a: { env, release: previous },
      b: { env, release: previous },
    });
  }, 240_000);
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  it('and its rollback lose nothing, under load', async () => {
    await using balancer = new LoadBalancer(() => cluster.nodes);
    using traffic = new Traffic();
    const exits: (number | null)[] = [];
    const replaceAll = async (release: Release): Promise<void> => {
      for (const name of names) {
        const old = cluster.node(name);
        balancer.terminate(old);
        exits.push((await old.exit).code);
        await balancer.untilReady(await cluster.add(name, { env, release }));
      }
    };
    for (const node of cluster.nodes) await balancer.untilReady(node);
    await runScenario({
      cluster,
      urls: () => balancer.urls(),
      load: { clients: 6, steps: 4, ms: 60 },
      async faults(stage) {
        const phase = async (name: string, act: () => Promise<unknown>): Promise<void> => {
          stage.note(name);
          traffic.begin(name);
          const runs = await startLongRuns(stage);
          await act();
          await checkLongRuns(stage, runs);
        };
        await phase('the previous release', async () => {});
        await phase('svc migrate of this release', () => migrateWith(thisRelease, uriOf(cluster.database)));
        await phase('upgrade', () => replaceAll(thisRelease));
        await phase('rollback', () => replaceAll(previous));
        await phase('upgrade again', () => replaceAll(thisRelease));
        traffic.end();
      },
      async after({ history }) {
        process.stderr.write(`${tableOf(traffic.phases)}\n${history.of('run').length} runs\n`);
        expect(history.of('failed')).toEqual([]);
        expect(balancer.refusals).toEqual([]);
        expect(exits).toEqual(Array.from({ length: 3 * names.length }, () => 0));
        expect(traffic.count((status) => status >= 500 && status !== 503)).toBe(0);
        expect(await cluster.query('select run_id from runs where attempt > 1')).toEqual([]);
      },
    });
  }, 600_000);
});

/** Runs that are released by stopping nodes and continued by the other release. */
const startLongRuns = (stage: Stage): Promise<JournalRun[]> =>
  Promise.all(Array.from({ length: 3 }, () => startJournal(stage, { steps: 60, ms: 100 })));

const checkLongRuns = async (stage: Stage, runs: JournalRun[]): Promise<void> => {
  for (const run of runs) {
    expect((await join(stage, run)).body).toMatchObject({ taken: 60 });
    const { attempt, lost_attempts = [] } = await getRun(stage, run);
    expect(attempt).toBe(1);
    expect(lost_attempts.filter(({ charged }) => charged)).toEqual([]);
  }
};
