// The longest time for which the event loop of a server is blocked, and its memory, with hostile bodies and large responses of both
// APIs; writes bench/hostile.md. With a pattern, sends only the requests whose name matches, prints
// the report, and writes no file.
// Usage: npm run bench:hostile [-- <pattern>]
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HostileAnswer, storeAnswers } from './hostile-answers.ts';
import { hostileBodies } from './hostile-bodies.ts';
import { startMeasured } from './processes.ts';

const pattern = process.argv[2] === undefined ? undefined : new RegExp(process.argv[2]);
const isWanted = ({ what }: { what: string }): boolean => pattern?.test(what) ?? true;
const goals = { delayMs: 250, memoryMb: 400 };
const holders = 4;

interface Row {
  what: string;
  times: number;
  statuses: string;
  seconds: number;
  delayMs: number;
  /** The delay without the time in which other processes used the cores. */
  ownMs: number;
  memoryMb: number;
}

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
  unread: boolean;
}

const directory = mkdtempSync(join(tmpdir(), 'svc-hostile-'));
const loopFile = join(directory, 'loop');
const key = `bench-${randomBytes(24).toString('hex')}`;
const probe = new URL('./loop-probe.mjs', import.meta.url).href;
writeFileSync(loopFile, '');

const server = await startMeasured(join(directory, 'data'), {
  env: {
    NODE_OPTIONS: `--import=${probe}`,
    SVC_BENCH_LOOP_FILE: loopFile,
    SVC_BOOTSTRAP_API_KEY: key,
    SVC_LEASE: '5s',
    SVC_TRACING: 'off',
    SVC_LOG_LEVEL: 'error',
  },
});

const agent = new Agent({ keepAlive: false });

/** Resolves with the status when the response has been read. */
const send = ({ method, path, headers, body, unread }: Sent): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(server.url);
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sent = httpRequest({ hostname, port, method, path, headers: { ...headers, ...length }, agent });
    // The connection is closed when a body is rejected early.
    let status = 'closed';
    sent.on('error', () => resolve(status));
    sent.on('response', (response) => {
      status = String(response.statusCode);
      if (unread)
        return void setTimeout(() => {
          resolve(status);
          sent.destroy();
        }, 5_000);
      response.resume().on('close', () => resolve(status));
    });
    sent.end(body);
  });

const rssMb = (): number =>
  (Number(readFileSync(`/proc/${server.pid}/statm`, 'utf8').split(' ')[1]) * 4_096) / 1_048_576;

/** The longest delay of the event loop since a time. */
const worstDelay = (since: number): Pick<Row, 'delayMs' | 'ownMs'> => {
  const worst = { delayMs: 0, ownMs: 0 };
  for (const line of readFileSync(loopFile, 'utf8').split('\n')) {
    const [at = 0, ms = 0, waited = 0] = line.split(' ').map(Number);
    if (at < since) continue;
    worst.delayMs = Math.max(worst.delayMs, ms);
    worst.ownMs = Math.max(worst.ownMs, ms - waited);
  }
  return worst;
};

const countOf = (statuses: string[]): string =>
  [...new Set(statuses)]
    .map((status) => `${status} x${statuses.filter((one) => one === status).length}`)
    .join(', ');

const measure = async (what: string, times: number, sent: Sent): Promise<Row> => {
  let peak = 0;
  const sampler = setInterval(() => (peak = Math.max(peak, rssMb())), 20);
  const since = Date.now();
  const statuses = await Promise.all(Array.from({ length: times }, () => send(sent)));
  const seconds = (Date.now() - since) / 1_000;
  await sleep(200);
  clearInterval(sampler);
  const row = {
    what,
    times,
    statuses: countOf(statuses),
    seconds,
    ...worstDelay(since),
    memoryMb: peak - idleMb,
  };
  process.stdout.write(`${Object.values(row).join(' | ')}\n`);
  return row;
};

const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
  return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
};

const toSent = ({ method, path, body, key: used, unread = false }: HostileAnswer): Sent => ({
  method,
  path,
  headers: { 'content-type': 'application/json', ...(used === undefined ? {} : { 'x-api-key': used }) },
  body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
  unread,
});

const rows: Row[] = [];
let idleMb = 0;
const kept: string[] = [];
try {
  for (let at = 0; at < 20; at++)
    await call('POST', '/runs/wait', {
      assistant_id: 'one-node',
      input: { messages: [{ role: 'user', content: 'x' }] },
    });
  await sleep(3_000);
  idleMb = rssMb();
  const runs: string[] = [];
  for (let at = 0; at < holders; at++) {
    const { thread_id } = await call('POST', '/threads', {});
    const { run_id } = await call('POST', `/threads/${String(thread_id)}/runs`, {
      assistant_id: 'sleeper',
      input: { count: 3_600_000 },
    });
    runs.push(`/threads/${String(thread_id)}/runs/${String(run_id)}`);
  }
  for (const { what, times, method = 'POST', path, headers, body } of hostileBodies(key).filter(isWanted))
    rows.push(await measure(what, times, { method, path, headers, body, unread: false }));
  for (const answer of (await storeAnswers(server.url, key)).filter(isWanted))
    rows.push(await measure(answer.what, answer.times, toSent(answer)));
  for (const path of runs) {
    const run = await call('GET', path);
    kept.push(
      run['status'] === 'running' && run['attempt'] === 1 && run['lost_attempts'] === undefined
        ? 'kept'
        : 'lost',
    );
    // The runs are cancelled, because a server that stops waits for its runs.
    await call('POST', `${path}/cancel?wait=true`);
  }
} finally {
  await server.stop();
  rmSync(directory, { recursive: true });
}

/** The rows in the page: those with the longest delays and the most memory. All of them with a pattern. */
const most = (of: (row: Row) => number): Row[] => rows.toSorted((a, b) => of(b) - of(a)).slice(0, 5);
const notable = new Set([...most((row) => row.ownMs), ...most((row) => row.memoryMb)]);
const shown = pattern === undefined ? rows.filter((row) => notable.has(row)) : rows;
const worst = (of: (row: Row) => number): string => Math.max(...rows.map(of)).toFixed(0);
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
const report = `# Hostile bodies and large responses

\`npm run bench:hostile\` sends each request several times concurrently to a server with leases of 5 seconds and ${holders} runs that only wait. The own delay is the longest delay of the event loop
of the server process, without the time in which other processes used the cores. Memory is that of the process minus its memory when idle (${idleMb.toFixed(0)} MB). Of ${rows.length} requests, the table has those with the longest delays
and the most memory; \`npm run bench:hostile -- .\` prints all.

${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? ''}).

| what | goal | measured |
|---|---|---|
| worst delay of the event loop, without waiting for a core | <= ${goals.delayMs} ms | ${worst((row) => row.ownMs)} ms |
| the same, with waiting for a core that another process used | | ${worst((row) => row.delayMs)} ms |
| peak of memory over idle | <= ${goals.memoryMb} MB | ${worst((row) => row.memoryMb)} MB |
| leases of the waiting runs | kept | ${countOf(kept)} |

| request | at once | answers | own delay, ms | memory over idle, MB |
|---|---|---|---|---|
${shown.map((row) => `| ${row.what} | ${row.times} | ${row.statuses} | ${row.ownMs.toFixed(0)} | ${row.memoryMb.toFixed(0)} |`).join('\n')}
`;
if (pattern === undefined) writeFileSync(new URL('hostile.md', import.meta.url), report);
else process.stdout.write(report);
