// Python graphs whose processes are killed, frozen and stopped under load, and whose database crashes.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { whyNoPythonClients } from '../python-clients/python.ts';
import type { Member } from './cluster.ts';
import { getRun, join, startJournal } from './journal-run.ts';
import { thisRelease } from './node-process.ts';
import { startPostgres } from './postgres.ts';
import { childrenOf, signal } from './process-tree.ts';
import { rounds, runScenario } from './scenario.ts';

const project = fileURLToPath(new URL('graphs/python.svc.json', import.meta.url));
const member: Member = { release: { ...thisRelease, project }, env: { SVC_SHUTDOWN_GRACE: '2s' } };
const nodes = { a: member, b: member };

const postgres = fixture(() => startPostgres());

describe.skipIf(whyNoPythonClients() !== undefined)('Python graphs under load', () => {
  it(
    'resume when their processes are killed or frozen: no step counts twice, and streams have no gap',
    async () => {
      await runScenario({
        postgres,
        nodes,
        load: { clients: 4, steps: 6, ms: 120 },
        async faults({ cluster, random, note, sleep }) {
          for (let fault = 0; fault < 6 * rounds; fault++) {
            await sleep(random.between(500, 3_000));
            const name = random.pick(Object.keys(nodes));
            const [pid] = cluster
              .node(name)
              .executors()
              .flatMap((executor) => childrenOf(executor, 'svc_executor'));
            if (pid === undefined) continue; // its executor starts
            const isKilled = random.pick([true, false]);
            note(`${isKilled ? 'kill' : 'freeze'} the Python process of ${name}`);
            signal(pid, isKilled ? 'SIGKILL' : 'SIGSTOP');
            if (isKilled) continue;
            await sleep(random.between(500, 3_000));
            signal(pid, 'SIGCONT');
          }
        },
      });
    },
    180_000 * rounds,
  );

  it(
    'lose nothing when PostgreSQL crashes repeatedly',
    async () => {
      await runScenario({
        postgres,
        nodes,
        load: { clients: 4 },
        async faults({ random, note, sleep }) {
          for (let crash = 0; crash < 3 * rounds; crash++) {
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
    'lose nothing when their servers are replaced: no client gets an error, and no attempt is charged',
    async () => {
      await runScenario({
        postgres,
        nodes,
        load: { clients: 4, steps: 4, ms: 60 },
        async faults(stage) {
          const { cluster, note, sleep } = stage;
          const long = await Promise.all(
            Array.from({ length: 4 }, () => startJournal(stage, { steps: 150, ms: 100 })),
          );
          for (const name of Object.keys(nodes)) {
            await sleep(1_000);
            note(`replace ${name}`);
            const old = cluster.node(name);
            await cluster.add(name);
            old.terminate();
            expect((await old.exit).code).toBe(0);
          }
          for (const run of long) {
            expect((await join(stage, run)).body).toMatchObject({ taken: 150 });
            expect(await getRun(stage, run)).toMatchObject({ status: 'success', attempt: 1 });
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
