// What distribution by Citus costs: the statements of a run on one PostgreSQL, in a schema that Citus has placed on a node, and in tables that
// it distributes by thread. Then statements of svc that Citus refuses.
//
// npm run bench:sharding -- URI    URI: the coordinator of a cluster, in a database without the schemas svc_plain, svc_placed and svc_spread
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { fixed, median } from './report.ts';
import { refusals } from './sharding-refusals.ts';

const rounds = 5;
const runs = { alone: 300, together: 1_600 };
const clients = 16;
const assistant_id = '00000000-0000-0000-0000-000000000001';

/** Tables in which runs are measured, and the node that gets their statements. */
interface Placement {
  name: string;
  schema: string;
  node: { host: string; port: number };
}

const uri = process.argv[2];
if (!uri) throw new Error('Give the URI of the coordinator');
const { host, port, user, password, database } = new pg.Client({ connectionString: uri });
const coordinator = { host, port };

/** Citus executes nested statements and triggers only with these settings. */
const options = (schema: string): string =>
  `-c search_path=${schema} -c citus.enable_unsafe_triggers=on -c citus.allow_nested_distributed_execution=on`;

const poolOf = ({ schema, node }: Placement): pg.Pool =>
  new pg.Pool({
    ...node,
    user,
    password: password ?? undefined,
    database,
    max: clients,
    options: options(schema),
  });

const runOnce = async (pool: pg.Pool): Promise<void> => {
  const thread_id = randomUUID();
  const run_id = randomUUID();
  const blobs = [1, 2].map(() => ({ thread_id, hash: randomUUID(), payload: 'y'.repeat(500) }));
  const calls = [
    {
      name: 'begin',
      text: 'select begin_run($1, $2, $3) as done',
      values: [thread_id, run_id, assistant_id],
    },
    {
      name: 'step',
      text: 'select commit_step($1, $2, $3, $4) as done',
      values: [thread_id, run_id, randomUUID(), JSON.stringify(blobs)],
    },
    { name: 'end', text: 'select end_run($1, $2) as done', values: [thread_id, run_id] },
  ];
  for (const call of calls) {
    const { rows } = await pool.query<{ done: boolean }>(call);
    if (!rows[0]!.done) throw new Error(`The call ${call.name} was refused`);
  }
};

/** Milliseconds for each run. */
const measure = async (pool: pg.Pool, count: number, together: number): Promise<number> => {
  const one = async () => {
    for (let done = 0; done < count / together; done++) await runOnce(pool);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: together }, one));
  return (performance.now() - started) / count;
};

const prepare = async (): Promise<Placement[]> => {
  const script = readFileSync(new URL('sharding.sql', import.meta.url), 'utf8');
  const admin = new pg.Client({ connectionString: uri, options: options('public') });
  await admin.connect();
  for (const schema of ['svc_plain', 'svc_placed', 'svc_spread']) {
    await admin.query(`create schema ${schema}`);
    await admin.query(`set search_path = ${schema}`);
    await admin.query(script);
  }
  await admin.query(`select create_reference_table('assistants')`);
  for (const table of ['threads', 'runs', 'checkpoints', 'checkpoint_heads', 'blobs']) {
    const together = table === 'threads' ? '' : `, colocate_with => 'threads'`;
    await admin.query(`select create_distributed_table('${table}', 'thread_id'${together})`);
  }
  for (const call of [
    'begin_run(uuid,uuid,uuid)',
    'commit_step(uuid,uuid,uuid,json)',
    'end_run(uuid,uuid)',
  ]) {
    await admin.query(`alter function ${call} set search_path = svc_spread`);
    await admin.query(
      `select create_distributed_function('${call}', 'p_thread_id', colocate_with => 'threads')`,
    );
  }
  await admin.query(`select citus_schema_distribute('svc_placed')`);
  const { rows } = await admin.query<{ host: string; port: number }>(
    `select nodename as host, nodeport as port from citus_shards where table_name = 'svc_placed.runs'::regclass`,
  );
  await admin.end();
  return [
    { name: 'one PostgreSQL', schema: 'svc_plain', node: coordinator },
    { name: 'schema on a node, queries sent to this node', schema: 'svc_placed', node: rows[0]! },
    { name: 'schema on a node, queries sent to the coordinator', schema: 'svc_placed', node: coordinator },
    { name: 'distributed by thread, functions delegated', schema: 'svc_spread', node: coordinator },
  ];
};

const figures = (await prepare()).map((placement) => ({
  name: placement.name,
  pool: poolOf(placement),
  alone: [] as number[],
  together: [] as number[],
}));
for (let round = 0; round <= rounds; round++) {
  for (const { pool, alone, together } of figures) {
    const ms = [await measure(pool, runs.alone, 1), await measure(pool, runs.together, clients)];
    if (round === 0) continue; // plans and connections are new
    alone.push(ms[0]!);
    together.push(ms[1]!);
  }
}
console.log(`| tables | ms per run, one client | runs/s, ${clients} clients |\n|---|---|---|`);
const medians = figures.map(({ name, alone, together }) => ({
  name,
  alone: median(alone),
  together: median(together),
}));
const plain = medians[0]!;
for (const { name, alone, together } of medians)
  console.log(
    `| ${name} | ${fixed(alone)} (${fixed(alone / plain.alone, 1)}x) | ${fixed(1000 / together, 0)} (1/${fixed(together / plain.together, 1)}) |`,
  );

console.log('\n| statement, in the schema on a node | answer of Citus |\n|---|---|');
for (const { name, sql } of refusals) {
  const client = await figures[1]!.pool.connect();
  try {
    await client.query('begin');
    const answer = await client.query(sql.text, sql.values).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
    console.log(`| ${name} | ${answer} |`);
    await client.query('rollback');
  } finally {
    client.release();
  }
}
await Promise.all(figures.map(({ pool }) => pool.end()));
