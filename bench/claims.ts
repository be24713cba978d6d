// The cost of claiming, creating and reading runs with a backlog of runs; writes bench/claims.md.
// Usage: npm run bench:claims (DATABASE_URI=… measures on an empty database there instead of the embedded one, and prints)
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { assistantStorage } from '../packages/server/src/storage/deployment/assistants/assistants.ts';
import { openDatabase, type Database } from '../packages/server/src/storage/postgres/database.ts';
import { openEmbedded } from '../packages/server/src/storage/embedded/embedded.ts';
import { everyRow } from '../packages/server/src/storage/postgres/row-filter.ts';
import { recordOf } from '../packages/server/src/storage/deployment/runs/run-creation.ts';
import { runLeaseStorage } from '../packages/server/src/storage/deployment/runs/run-leases.ts';
import { runQueueStorage } from '../packages/server/src/storage/deployment/runs/run-queue.ts';
import { runStorage } from '../packages/server/src/storage/deployment/runs/runs.ts';
import type { NewRun } from '../packages/server/src/storage/deployment/runs/run-rows.ts';
import { migrate } from '../packages/server/src/storage/schema/migrate.ts';
import { workerStorage } from '../packages/server/src/storage/deployment/workers.ts';
import { fixed, median } from './report.ts';

const sizes = [10, 1_000, 20_000, 100_000];
const repeats = 30;
const assistants = Array.from({ length: 20 }, () => randomUUID());
const worker_id = randomUUID();
const lease = { worker_id, leaseMs: 3_600_000, attemptsMax: 3, graphs: ['agent'] };
const busyThread = randomUUID();

/** `owners`: runs of 1,000 users and 20 assistants. `thread`: all runs wait for a run of the same thread. `delayed`: no run is due. */
type Backlog = 'owners' | 'thread' | 'delayed';

const titles: Record<Backlog, string> = {
  owners: 'runs of 1,000 users and 20 assistants',
  thread: 'runs that wait for another run of their thread',
  delayed: 'runs that are not due',
};
const backlogs = ['owners', 'thread', 'delayed'] satisfies Backlog[];

/** Creates a batch of runs in one transaction. The number of a run determines its owner and its assistant. */
const fill = {
  name: '',
  text: `select count(*) from (
    select create_run(json_populate_record(json_populate_record(null::new_run, $5), json_build_object(
      'run_id', gen_random_uuid(), 'assistant_id', ($2::uuid[])[g % 20 + 1],
      'thread_id', case when $3 = 'thread' then $4::uuid else gen_random_uuid() end,
      'metadata', json_build_object('svc_auth_user_id', g % 1000),
      'delay', case when $3 = 'delayed' then '1 day' else '0' end)), '{}')
    from generate_series(1, $1::integer) g) s`,
};

const runOf = (thread_id: string, claim: boolean): NewRun => ({
  run_id: randomUUID(),
  thread_id,
  assistant_id: assistants[0] ?? '',
  metadata: { svc_auth_user_id: 'one more' },
  kwargs: '{}',
  multitask_strategy: 'enqueue',
  create_thread: true,
  claim,
  leaseMs: lease.leaseMs,
  delayMs: 0,
  worker_id,
  log: 'nothing',
  resumable: false,
  webhook: null,
  keyed: false,
  access: everyRow,
  assistantAccess: everyRow,
  sealed_user: null,
  graphs: lease.graphs,
  workerTtlMs: 60_000,
  answered_state_at: null,
});

const measure = async (work: () => Promise<unknown>, after?: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let count = 0; count < repeats; count++) {
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
    await after?.();
  }
  return median(times);
};

/** Measures each operation separately. Its changes are undone before the next measurement. */
const measureAll = async (db: Database): Promise<Record<string, number>> => {
  const [runs, leases, workers] = [runStorage(db), runLeaseStorage(db), workerStorage(db)];
  const some = await db.query<{ run_id: string }>(
    { text: `select run_id from runs where status = 'pending' limit 1` },
    [],
  );
  let claimed: { id: string; lease_token: number }[] = [];
  let served: [string, number][] = [];
  const claim = async (count: number) => {
    const got = await leases.claim({ ...lease, count, served });
    claimed = got.runs.map(({ run_id: id, lease_token }) => ({ id, lease_token }));
    served = got.runs.map(({ assistant_id, owner_hash }) => [assistant_id, owner_hash]);
  };
  const release = () => leases.release(claimed, { charge: false, lost: false, reason: 'measured' });
  let created = '';
  const create = async () => {
    created = randomUUID();
    await runs.create(runOf(created, true));
  };
  const remove = () => db.query({ name: 'gone', text: 'select delete_thread($1)' }, [created]);
  return {
    'claim of one run': await measure(() => claim(1), release),
    'claim of ten runs': await measure(() => claim(10), release),
    'claim of a graph without runs': await measure(() =>
      leases.claim({ ...lease, graphs: ['none'], count: 10, served }),
    ),
    'poll for due runs and lost leases': await measure(async () => {
      await runQueueStorage(db).promote();
      await leases.recover(3);
    }),
    'create a run': await measure(create, remove),
    'figures of /ready and /metrics': await measure(() => workers.queue(60_000)),
    'what a pending run waits for': await measure(() =>
      runs.waiting(some[0]?.run_id ?? randomUUID(), 60_000),
    ),
  };
};

/** Plans of the statements inside the functions, if the server has auto_explain. */
const plansOf = async (uri: string | undefined, connection: pg.PoolConfig): Promise<string> => {
  const client = new pg.Client(uri === undefined ? connection : { connectionString: uri });
  const lines: string[] = [];
  client.on('notice', ({ message }) => lines.push(message ?? ''));
  await client.connect();
  try {
    await client.query(`load 'auto_explain'`);
  } catch {
    await client.end();
    return 'This server has no auto_explain.';
  }
  await client.query(`set search_path = svc; set jit = off; set random_page_cost = 1.1; set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on; set auto_explain.log_timing = off;
    set client_min_messages = log; begin`);
  await client.query(
    `select run_id from claim_runs(1, gen_random_uuid(), '1 minute', 3, '{agent}', '{}', '{}')`,
  );
  await client.query('rollback');
  await client.end();
  return lines.join('\n');
};

const uri = process.env['DATABASE_URI'];
const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
/** One for each backlog, by operation. */
const cells = new Map<string, string[]>();
{
  await using embedded = uri === undefined ? await openEmbedded({ dataDir }) : undefined;
  const connection = embedded?.connection ?? { connectionString: uri };
  await using db = await openDatabase({ connection });
  await migrate(db);
  const [version] = await db.query<{ server_version: string }>({ text: 'show server_version' }, []);
  for (const assistant_id of assistants)
    await assistantStorage(db).create({
      assistant_id,
      graph_id: 'agent',
      name: 'agent',
      description: null,
      config: {},
      context: null,
      metadata: {},
    });
  for (const shape of backlogs) {
    await db.script('truncate runs, threads, crons cascade');
    if (shape === 'thread') await runStorage(db).create(runOf(busyThread, true));
    const results: Record<string, number>[] = [];
    let stored = 0;
    // A transaction that changes one thread often reads all of its earlier versions each time.
    const batch = shape === 'thread' ? 200 : 5_000;
    for (const size of sizes) {
      for (; stored < size; stored += Math.min(batch, size - stored))
        await db.query(fill, [
          Math.min(batch, size - stored),
          assistants,
          shape,
          busyThread,
          JSON.stringify(recordOf(runOf(busyThread, false))),
        ]);
      await runQueueStorage(db).count();
      results.push(await measureAll(db));
      process.stderr.write(`${shape} ${size} ${JSON.stringify(results.at(-1))}\n`);
      if (process.env['SVC_BENCH_PLANS'] === '1' && size === sizes.at(-1)) {
        await db.script('analyze runs');
        process.stderr.write(`after analyze ${JSON.stringify(await measureAll(db))}\n`);
        process.stderr.write(`${await plansOf(uri, connection)}\n`);
      }
    }
    for (const what of Object.keys(results[0] ?? {})) {
      const [least = 0, ...more] = results.map((result) => result[what] ?? 0);
      const most = more.at(-1) ?? 0;
      const cell = `${fixed(least)} → ${fixed(most)} ms, ${fixed(most / least)}`;
      cells.set(what, [...(cells.get(what) ?? []), cell]);
    }
  }
  const head = sizes
    .filter((_, at) => at === 0 || at === sizes.length - 1)
    .map((size) => size.toLocaleString('en'));
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const page = `# A backlog of runs

\`npm run bench:claims\` fills the queue and measures, through the storage layer, how long each operation takes with ${head.join(' → ')} pending runs: the
median of ${repeats}. The goal for the ratio is at most 2.

${new Date().toISOString().slice(0, 10)}, commit ${commit}, PostgreSQL ${version?.server_version ?? ''}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), other work included.

| operation | ${backlogs.map((backlog) => titles[backlog]).join(' | ')} |
|---|---|---|---|
${[...cells].map(([what, row]) => `| ${what} | ${row.join(' | ')} |`).join('\n')}
`;
  if (uri === undefined) writeFileSync(new URL('./claims.md', import.meta.url), page);
  else process.stdout.write(page);
}
rmSync(dataDir, { recursive: true, force: true });
