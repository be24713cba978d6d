// Two nodes of the previous release are replaced by nodes of this one, then by the previous one, then again, while clients work.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUpgradeExceptions } from '../../scripts/previous-release.ts';
import { Cluster } from '../faults/cluster.ts';
import { getRun, join, type JournalRun, startJournal } from '../faults/journal-run.ts';
import { type Release, type SvcNode, thisRelease } from '../faults/node-process.ts';
import { type FaultyPostgres, startPostgres } from '../faults/postgres.ts';
import { runScenario, type Stage } from '../faults/scenario.ts';
import { BackgroundLoad } from './background-load.ts';
import { ConversationClient } from './conversation-client.ts';
import { CronTicks } from './cron-ticks.ts';
import { KeptThreads, type ServedBy } from './kept-threads.ts';
import { LoadBalancer } from './load-balancer.ts';
import { checkMixedReleases } from './mixed-releases.ts';
import { migrateWith, openPreviousRelease } from './releases.ts';
import { TraceClient } from './trace-client.ts';
import { tableOf, Traffic } from './traffic.ts';
import { scaled } from '../speed.ts';

const names = ['a', 'b'] as const;
const key = `svc_${randomUUID()}`;
/** Shorter than the long runs, which stopping nodes therefore release to the other node. */
const env = {
  SVC_SHUTDOWN_GRACE: '2s',
  SVC_BOOTSTRAP_API_KEY: key,
  // The default. The fault tests use a short lease, in which an executor that is loading graphs may not respond.
  SVC_LEASE: '30s',
};

/** Takes longer than the grace of a stopping node. */
const longRunSteps = 40;

let previous: Release;
let postgres: FaultyPostgres;
let cluster: Cluster;

const uriOf = (database: string): string => `postgresql://svc@127.0.0.1:${postgres.port}/${database}`;

describe('a rolling upgrade', () => {
  beforeAll(async () => {
    previous = await openPreviousRelease();
    print(`from ${previous.command}`, `to ${thisRelease.command}`);
    postgres = await startPostgres({
      migrateTemplate: async ({ port, database }) => {
        await migrateWith(previous, `postgresql://svc@127.0.0.1:${port}/${database}`);
      },
    });
    cluster = await Cluster.open(postgres, {
      a: { env, release: previous },
      b: { env, release: previous },
    });
  }, scaled(240_000));
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  it(
    'and its rollback lose nothing, under load',
    async () => {
      await using balancer = new LoadBalancer(() => cluster.nodes);
      using traffic = new Traffic();
      const exits: (number | null)[] = [];
      const stopped: SvcNode[] = [];
      const nodes = () => [cluster.node('a'), cluster.node('b')] as const;
      const served = (release: Release): ServedBy[] =>
        nodes().map((node) => ({ node, isPrevious: release === previous }));
      for (const node of nodes()) await balancer.untilReady(node);
      const known = await readUpgradeExceptions();
      const kept: KeptThreads[] = [];

      const replaceAll = async (release: Release): Promise<void> => {
        for (const name of names) {
          const old = cluster.node(name);
          balancer.terminate(old);
          exits.push((await old.exit).code);
          stopped.push(old);
          await balancer.untilReady(await cluster.add(name, { env, release }));
          if (name === 'a') await checkMixedReleases(...nodes());
        }
      };
      const scenario = runScenario({
        cluster,
        urls: () => balancer.urls(),
        load: { clients: 4, steps: 4, ms: 60 },
        async faults(stage) {
          const { caller, random, note } = stage;
          const load = new BackgroundLoad([
            new ConversationClient({ caller, random: random.fork() }),
            new TraceClient({ caller, random: random.fork(), key }),
          ]);
          const cron = await CronTicks.create(stage);
          const phase = async (
            name: string,
            release: Release,
            act: () => Promise<unknown>,
          ): Promise<void> => {
            note(name);
            traffic.begin(name);
            const runs = await startLongRuns(stage);
            await act();
            await checkLongRuns(stage, runs);
            await cron.tick();
            kept.push(await KeptThreads.create(name, served(release)[0]!, known));
            for (const by of served(release))
              for (const threads of kept)
                expect(await threads.check(by), `${name}, ${by.node.name}`).toEqual([]);
          };
          await phase('previous release', previous, () => Promise.resolve());
          await phase('svc migrate', previous, () => migrateWith(thisRelease, uriOf(cluster.database)));
          await phase('upgrade', thisRelease, () => replaceAll(thisRelease));
          await phase('rollback', previous, () => replaceAll(previous));
          await phase('second upgrade', thisRelease, () => replaceAll(thisRelease));
          traffic.end();
          expect(await load.stop()).toEqual([]);
          print(load.summary());
        },
        async after({ history }) {
          expect(history.of('failed')).toEqual([]);
          expect(balancer.refusals).toEqual([]);
          expect(exits).toEqual(Array.from({ length: 3 * names.length }, () => 0));
          const isKnown = (line: string): boolean =>
            known.errors.some(({ message }) => line.includes(`"message":"${message}`));
          // The nodes of the first phases: only they serve while the schema is migrated.
          const knownErrors = stopped.slice(0, names.length).flatMap(errorsOf).filter(isKnown);
          expect(traffic.count((status) => status >= 500 && status !== 503)).toBe(knownErrors.length);
          print(`${knownErrors.length} known errors of the previous release`);
          expect(await cluster.query('select run_id from runs where attempt > 1')).toEqual([]);
          const moved = await cluster.query('select run_id from runs where lease_token > 1');
          expect(moved.length).toBeGreaterThan(0);
          print(`${history.of('run').length} runs, ${moved.length} of them continued by the other node`);
        },
      });
      await scenario.finally(() => {
        print(tableOf(traffic.phases));
        for (const reason of traffic.phases.flatMap(({ broken }) => broken)) print(`no response: ${reason}`);
        for (const node of [...stopped, ...cluster.nodes]) print(...errorsOf(node));
      });
    },
    scaled(600_000),
  );
});

const print = (...lines: string[]): void => {
  for (const line of lines) process.stderr.write(`${line}\n`);
};

/** The lines of the log of a node at `error`. */
const errorsOf = (node: SvcNode): string[] =>
  node
    .output()
    .split('\n')
    .flatMap((line) => (line.startsWith('{"level":50') ? [`${node.name}: ${line.slice(0, 2_000)}`] : []));

/** Runs that are released by stopping nodes and continued by the other release. */
const startLongRuns = (stage: Stage): Promise<JournalRun[]> =>
  Promise.all(Array.from({ length: 3 }, () => startJournal(stage, { steps: longRunSteps, ms: 100 })));

const checkLongRuns = async (stage: Stage, runs: JournalRun[]): Promise<void> => {
  for (const run of runs) {
    expect((await join(stage, run)).body).toMatchObject({ taken: longRunSteps });
    const { attempt, lost_attempts = [] } = await getRun(stage, run);
    expect(attempt).toBe(1);
    expect(lost_attempts.filter(({ charged }) => charged)).toEqual([]);
  }
};
