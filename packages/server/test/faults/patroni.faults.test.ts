// PostgreSQL with Patroni, all members of which are in DATABASE_URI: the leader changes, or is lost, under load.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { sendOnce } from './caller.ts';
import { Cluster } from './cluster.ts';
import { getRun, join, startJournal } from './journal-run.ts';
import { type PatroniMember, type PatroniPostgres, startPatroni } from './patroni.ts';
import { whyNoPatroni } from './patroni-availability.ts';
import { rounds, runScenario, type Stage } from './scenario.ts';
import { scaled } from '../speed.ts';

let postgres: PatroniPostgres;
let cluster: Cluster;

/** Waits until a node accepts a write, which it may refuse with 503 only. Returns the milliseconds. */
const untilWritten = async ({ cluster: { nodes } }: Stage): Promise<number> => {
  const since = performance.now();
  const { url } = nodes.find(({ role }) => role === 'api')!;
  await eventually(async () => {
    const { status } = await sendOnce(url, { method: 'POST', path: '/threads', body: {} });
    expect([200, 503]).toContain(status);
    if (status === 503) throw new Error('not writable yet');
  }, 60_000);
  return Math.round(performance.now() - since);
};

/** What happens to the leader, in each round. */
const faults: Record<string, (leader: PatroniMember) => Promise<void>> = {
  'is changed as planned': (leader) => postgres.switchover(leader),
  'loses its PostgreSQL (kill -9)': (leader) => postgres.killPostmaster(leader),
  'loses its machine (kill -9 of everything)': (leader) => postgres.killMachine(leader),
};

const describeWithPatroni = (name: string, tests: () => void): void =>
  void describe.skipIf(whyNoPatroni() !== undefined)(name, tests);

describeWithPatroni('a leader that', () => {
  beforeAll(async () => {
    postgres = await startPatroni();
    cluster = await Cluster.open(postgres, {
      api: { role: 'api' },
      worker1: { role: 'worker' },
      worker2: { role: 'worker' },
    });
  }, scaled(240_000));
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  it.each(Object.entries(faults))(
    '%s: nothing acknowledged is lost, requests get 503 at most, and no run is charged an attempt',
    async (what, act) => {
      await runScenario({
        cluster,
        load: { clients: 4, steps: 5, ms: 80 },
        async faults(stage) {
          for (let round = 0; round < rounds; round++) {
            await stage.sleep(1_000);
            const runs = await Promise.all(
              Array.from({ length: 3 }, () => startJournal(stage, { steps: 60, ms: 100 })),
            );
            await stage.sleep(1_000);
            const leader = await postgres.leader();
            stage.note(`${leader.name} ${what}`);
            const since = performance.now();
            await act(leader);
            const next = await postgres.untilReplaced(leader);
            const replacedMs = Math.round(performance.now() - since);
            stage.note(
              `${next.name} leads after ${replacedMs} ms, and is used ${await untilWritten(stage)} ms later`,
            );
            await postgres.start();
            for (const run of runs) {
              expect((await join(stage, run)).body).toMatchObject({ taken: 60 });
              const { lost_attempts = [] } = await getRun(stage, run);
              expect(lost_attempts.filter(({ charged }) => charged)).toEqual([]);
            }
          }
          report(stage);
        },
      });
    },
    300_000 * rounds,
  );
});

/** Figures, which depend on the machine. */
const report = ({ history }: Stage): void => {
  for (const entry of history.of('fault')) process.stderr.write(`${entry.what}\n`);
};
