// Measures a real server against the bare engine, in one run on one machine, and writes bench/README.md.
// Ratios count; absolute figures drift with the machine. Usage: npm run bench
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@svc/sdk';
import pg from 'pg';
import { authentication } from './auth.ts';
import { acrossNodes, manyReaders, sleepers } from './nodes.ts';
import { startMeasured, type Measured } from './processes.ts';
import { fixed, median, type Report } from './report.ts';

interface Bare {
  p50Ms: number;
  cpuMsPerRun: number;
  runsPerSecond: number;
  growth: number;
}

interface Row {
  what: string;
  goal: string;
  measured: string;
}

const rows: Row[] = [];
const report: Report = (what, goal, measured) => {
  rows.push({ what, goal, measured });
  process.stderr.write(`${what}: ${measured} (goal ${goal})\n`);
};

const userMessage = (content: string) => ({ messages: [{ role: 'user', content }] });

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work();
  return performance.now() - started;
};

const repeat = async (count: number, work: (index: number) => Promise<unknown>): Promise<void> => {
  for (let index = 0; index < count; index++) await work(index);
};

const latencies = async (count: number, work: () => Promise<unknown>): Promise<number[]> => {
  const all: number[] = [];
  await repeat(count, async () => all.push(await timed(work)));
  return all;
};

const concurrently = (clients: number, count: number, work: () => Promise<unknown>): Promise<number> =>
  timed(() => Promise.all(Array.from({ length: clients }, () => repeat(count / clients, work))));

const bareEngine = (): Bare => {
  const file = new URL('./bare-engine.ts', import.meta.url).pathname;
  return JSON.parse(execFileSync(process.execPath, ['--import', 'tsx', file]).toString()) as Bare;
};

const runs = async (client: Client, server: Measured, bare: Bare): Promise<void> => {
  const wait = () => client.runs.wait(null, 'one-node', { input: userMessage('hello') });
  const onNewThread = async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'one-node', { input: userMessage('hello') });
  };
  const onThread = () =>
    client.runs.wait(randomUUID(), 'one-node', { input: userMessage('hello'), if_not_exists: 'create' });
  await repeat(300, onThread);
  await repeat(50, onNewThread);
  const p50 = median(await latencies(500, onThread));
  report(
    '`runs/wait` on a thread, one client: added latency, p50',
    '<= 5 ms',
    `${fixed(p50 - bare.p50Ms)} ms (${fixed(p50)} against ${fixed(bare.p50Ms)})`,
  );
  report(
    '`runs/wait` without a thread, one client, p50',
    '',
    `${fixed(median(await latencies(300, wait)))} ms`,
  );
  const count = 3_200;
  const before = server.cpuMs();
  const ms = await concurrently(32, count, onThread);
  const cpu = (server.cpuMs() - before) / count;
  const rate = (count / ms) * 1000;
  report(
    'CPU per run, all processes with PostgreSQL, 32 clients',
    '<= 3x the engine',
    `${fixed(cpu / bare.cpuMsPerRun)}x (${fixed(cpu)} against ${fixed(bare.cpuMsPerRun)} ms)`,
  );
  report(
    '`runs/wait` on threads, 32 clients',
    '>= 0.5 of the engine',
    `${fixed(rate / bare.runsPerSecond)} (${fixed(rate, 0)} against ${fixed(bare.runsPerSecond, 0)} runs/s)`,
  );
};

const streams = async (client: Client): Promise<void> => {
  const first = async () => {
    for await (const _ of client.runs.stream(null, 'one-node', { input: userMessage('hi') })) return;
  };
  await repeat(50, first);
  report(
    'first event of a streamed run, p50',
    '<= 10 ms',
    `${fixed(median(await latencies(200, first)))} ms`,
  );
  const background: number[] = [];
  await repeat(200, async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'one-node', {
      input: userMessage('hi'),
      stream_resumable: true,
      stream_mode: 'tasks',
    });
    const accepted = performance.now();
    for await (const { event } of client.runs.joinStream(thread_id, run.run_id, { lastEventId: '-1' }))
      if (event === 'tasks') break;
    background.push(performance.now() - accepted);
  });
  report(
    'background run: from its 2xx to its first node, seen by a client that joins, p50',
    '<= 5 ms',
    `${fixed(median(background))} ms`,
  );
};

const threads = async (client: Client): Promise<void> => {
  const ids: string[] = [];
  const create = await concurrently(32, 3_200, async () =>
    ids.push((await client.threads.create({ metadata: { a: 1 } })).thread_id),
  );
  const get = await concurrently(32, 3_200, () =>
    client.threads.get(ids.at(Math.floor(Math.random() * ids.length)) ?? ''),
  );
  report('thread create, 32 clients', 'durable', `${fixed((3_200 / create) * 1000, 0)}/s`);
  report('thread get, 32 clients', '', `${fixed((3_200 / get) * 1000, 0)}/s`);
};

const longThread = async (client: Client, server: Measured, db: pg.Client): Promise<void> => {
  const text = 'x'.repeat(500);
  const { thread_id } = await client.threads.create();
  const quiet = async (id: string) => {
    for await (const _ of client.runs.stream(id, 'one-node', {
      input: userMessage(text),
      stream_mode: 'updates',
    }));
  };
  const cpuOf = async (count: number) => {
    const before = server.cpuMs();
    await repeat(count, () => quiet(thread_id));
    return (server.cpuMs() - before) / count;
  };
  const early = await cpuOf(20);
  await cpuOf(160);
  const late = await cpuOf(20);
  const { rows: sizes } = await db.query<{ stored: string }>(
    `select (select sum(pg_column_size(b.*)) from svc.blobs b where space = $1)
       + (select sum(pg_column_size(c.*)) from svc.checkpoints c where thread_id = $1)
       + (select sum(pg_column_size(w.*)) from svc.checkpoint_writes w where thread_id = $1) as stored`,
    [thread_id],
  );
  const { messages } = (await client.threads.get(thread_id)).values as { messages: unknown[] };
  const stored = Number(sizes[0]?.stored);
  report(
    'runs 181 to 200 on a thread against runs 1 to 20, 500-byte messages, CPU',
    '<= 2x',
    `${fixed(late / early)}x (${fixed(late)} against ${fixed(early)} ms)`,
  );
  report(
    'bytes stored for 200 such runs (rows of checkpoints, writes, values), against the JSON of the messages',
    '<= 3x',
    `${fixed(stored / JSON.stringify(messages).length)}x (${fixed(stored / 1024, 0)} KB)`,
  );
};

const history = async (client: Client): Promise<void> => {
  const make = async (count: number): Promise<string> => {
    const { thread_id } = await client.threads.create();
    for (let index = 0; index < count; index++)
      await client.runs.wait(thread_id, 'counter', { input: { count: index } });
    return thread_id;
  };
  const [brief, long] = [await make(10), await make(1_000)];
  const read = (id: string) => latencies(100, () => client.threads.getHistory(id, { limit: 10 }));
  await read(brief);
  const [short, after] = [median(await read(brief)), median(await read(long))];
  report(
    'history, limit 10, of a 1,000-run thread against a 10-run thread (a state that does not grow)',
    '<= 2x',
    `${fixed(after / short)}x (${fixed(after)} against ${fixed(short)} ms)`,
  );
};

const search = async (client: Client, db: pg.Client): Promise<void> => {
  // Fifty threads match in both cases; the number of other threads differs.
  // Without triggers: the one of new threads takes a lock for each, and a million do not fit into one transaction.
  await db.query('set session_replication_role = replica');
  const fill = (count: number, set: string) =>
    db.query(
      `insert into svc.threads (thread_id, blob_space, metadata)
       select id, id, jsonb_build_object('customer', n % ($1::int / 50), 'set', $2::text)
       from (select gen_random_uuid() as id, n from generate_series(1, $1::int) n) s`,
      [count, set],
    );
  const find = async (set: string) => {
    const search = () =>
      client.threads.search({ metadata: { customer: Math.floor(Math.random() * 20), set }, limit: 10 });
    await repeat(100, search);
    return median(await latencies(300, search));
  };
  await fill(1_000, 'small');
  await db.query('vacuum analyze svc.threads');
  const small = await find('small');
  await fill(1_000_000, 'large');
  await db.query('vacuum analyze svc.threads');
  const large = await find('large');
  report(
    'search by metadata, 1,000,000 threads against 1,000, p50',
    '<= 2x',
    `${fixed(large / small)}x (${fixed(large)} against ${fixed(small)} ms)`,
  );
};

const write = (bare: Bare): void => {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
  const table = rows.map(({ what, goal, measured }) => `| ${what} | ${goal} | ${measured} |`).join('\n');
  const text = `# Measurements

\`npm run bench\` starts a real server with the embedded PostgreSQL and durable settings, measures the bare engine in the same run
(LangGraph.js \`invoke\` with \`MemorySaver\`, same graph, same Node, in a separate process), and writes this page. Client, server and
database share the machine: compare ratios, not absolute figures.

${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model}), Linux ${release()}.
The engine alone: ${fixed(bare.p50Ms)} ms p50, ${fixed(bare.runsPerSecond, 0)} runs/s and ${fixed(bare.cpuMsPerRun)} ms of CPU per run with 32 at once; its run 200 on a thread costs ${fixed(bare.growth, 1)}x its run 1.

| what | goal | measured |
|---|---|---|
${table}

Goals in milliseconds were set on a machine where the engine takes 0.8 ms for this run; read them as multiples of the engine.
`;
  // Other measurements have written down what follows.
  const page = new URL('./README.md', import.meta.url);
  const [, ...rest] = readFileSync(page, 'utf8').split(/^(?=## )/m);
  writeFileSync(page, `${text}\n${rest.join('')}`);
};

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const bare = bareEngine();
await (await startMeasured(dataDir)).stop();
const server = await startMeasured(dataDir);
report('`svc start` to `/ok` on an existing data directory', '<= 1.5 s', `${fixed(server.startMs / 1000)} s`);
const db = new pg.Client({ host: dataDir, port: 5432, user: 'svc', database: 'postgres' });
await db.connect();
const client = createClient({ apiUrl: server.url });
await runs(client, server, bare);
await streams(client);
await threads(client);
await longThread(client, server, db);
await history(client);
await search(client, db);
report('memory of the server process at the end', '', `${fixed(server.memoryMb(), 0)} MB`);
await db.end();
await server.stop();
await acrossNodes(dataDir, report);
await sleepers(dataDir, report);
await manyReaders(dataDir, report);
await authentication(report);
rmSync(dataDir, { recursive: true, force: true });
write(bare);
