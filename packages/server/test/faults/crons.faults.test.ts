// Crons that are fired by several nodes while nodes are killed, and changed while they are fired.
import { describe, expect, it } from 'vitest';
import { Cluster } from './cluster.ts';
import { startPostgres } from './postgres.ts';
import { rounds, runScenario, type Stage } from './scenario.ts';
import { fixture } from '../fixture.ts';

const postgres = fixture(() => startPostgres());
const cluster = fixture(() => Cluster.open(postgres, { a: {}, b: {}, c: {} }));

const plan = (version: string) => ({
  input: { marker: version, steps: 1, ms: 0, taken: 0 },
  metadata: { version },
});

/** Creates a cron that is not due until makeDue(). */
const createCron = async ({ caller }: Stage): Promise<string> => {
  const body = { assistant_id: 'journal', schedule: '0 0 1 1 *', on_run_completed: 'keep', ...plan('old') };
  const answer = await caller.call({ method: 'POST', path: '/runs/crons', body });
  expect(answer.status).toBe(200);
  return (answer.body as { cron_id: string }).cron_id;
};

const makeDue = async (cron_id: string): Promise<void> => {
  await cluster.query(`update crons set next_run_date = now() - interval '1 ms' where cron_id = $1`, [
    cron_id,
  ]);
};

const untilFired = (cron_id: string): Promise<void> =>
  expect
    .poll(
      () => cluster.query('select 1 from crons where cron_id = $1 and next_run_date <= now()', [cron_id]),
      {
        timeout: 20_000,
      },
    )
    .toEqual([]);

interface RunOfCron {
  run_id: string;
  version: string;
  marker: string;
}

const runsOf = (cron_id: string): Promise<RunOfCron[]> =>
  cluster.query<RunOfCron>(
    `select run_id, metadata->>'version' as version, kwargs::json->'input'->>'marker' as marker
     from runs where metadata->>'cron_id' = $1`,
    [cron_id],
  );

describe('a cron', () => {
  it(
    'creates one run per tick when a node is killed, or the response to its commit is lost',
    async () => {
      await runScenario({
        cluster,
        async faults(stage) {
          const { note, random } = stage;
          const cron_id = await createCron(stage);
          const ticks = 6 * rounds;
          for (let tick = 0; tick < ticks; tick++) {
            await makeDue(cron_id);
            const name = random.pick(['a', 'b', 'c']);
            if (tick % 3 === 2) {
              await stage.sleep(random.between(0, 1_000));
              note(`kill ${name}`);
              await cluster.node(name).kill();
              await cluster.add(name);
            } else {
              note(`the answer to ${name}'s next commit is lost`);
              void cluster.network(name).dropReplyOnce('commit');
            }
            await untilFired(cron_id);
            cluster.network(name).pass();
          }
          const made = await cluster.query<{ run_id: string | null }>(
            'select run_id from cron_ticks where cron_id = $1',
            [cron_id],
          );
          expect(made).toHaveLength(ticks);
          const runs = await runsOf(cron_id);
          expect(runs).toHaveLength(ticks);
          expect(new Set(runs.map(({ run_id }) => run_id))).toEqual(
            new Set(made.map(({ run_id }) => run_id)),
          );
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'that is changed while it fires creates a run of the old or the new version, never a mixture',
    async () => {
      await runScenario({
        cluster,
        async faults(stage) {
          for (let round = 0; round < 4 * rounds; round++) {
            const cron_id = await createCron(stage);
            await makeDue(cron_id);
            await stage.sleep(stage.random.between(0, 1_000));
            const path = `/runs/crons/${cron_id}`;
            const answer = await stage.caller.call({ method: 'PATCH', path, body: plan('new') });
            expect(answer.status).toBe(200);
            await untilFired(cron_id);
            const runs = await runsOf(cron_id);
            expect(runs).toHaveLength(1);
            for (const { version, marker } of runs) expect(marker).toBe(version);
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'that is deleted while it fires has created its run by then, or creates none',
    async () => {
      await runScenario({
        cluster,
        async faults(stage) {
          for (let round = 0; round < 4 * rounds; round++) {
            const cron_id = await createCron(stage);
            await makeDue(cron_id);
            await stage.sleep(stage.random.between(0, 1_000));
            const answer = await stage.caller.call({ method: 'DELETE', path: `/runs/crons/${cron_id}` });
            expect(answer.status).toBe(204);
            const then = (await runsOf(cron_id)).length;
            // As long as a scheduler without notifications takes to poll again.
            await stage.sleep(1_200);
            expect(await runsOf(cron_id)).toHaveLength(then);
          }
        },
      });
    },
    180_000 * rounds,
  );
});
