// How many trace runs a real server ingests durably, and the CPU time of that; writes bench/ingest.md.
// Usage: npm run bench:ingest
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMeasured, type Measured } from './processes.ts';
import { fixed, median } from './report.ts';
import { makeSpanRequests, spanHeaders } from './spans.ts';
import { makeRequests, requestHeaders, runsPerRequest } from './traces.ts';

const requests = Number(process.env['SVC_BENCH_REQUESTS'] ?? 200);
const senders = 4;

interface Row {
  what: string;
  runsPerSecond: number;
  perCore: number;
  serverMs: number;
  databaseMs: number;
  p50Ms: number;
  megabytes: number;
}

interface Variant {
  what: string;
  path: string;
  bodies: Buffer[];
  headers: Record<string, string>;
}

const measure = async (server: Measured, { what, path, bodies, headers }: Variant): Promise<Row> => {
  const size = bodies.reduce((sum, body) => sum + body.length, 0);
  const latencies: number[] = [];
  const before = server.cpu();
  const started = performance.now();
  const sender = async (): Promise<void> => {
    for (let body = bodies.shift(); body; body = bodies.shift()) {
      const sent = performance.now();
      const response = await fetch(`${server.url}/api/v1/${path}`, { method: 'POST', headers, body });
      const text = await response.text();
      if (!response.ok || text.includes('errors')) throw new Error(text);
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  const seconds = (performance.now() - started) / 1_000;
  const after = server.cpu();
  const runs = requests * runsPerRequest;
  const serverMs = (after.serverMs - before.serverMs) / runs;
  const databaseMs = (after.databaseMs - before.databaseMs) / runs;
  const row = {
    what,
    runsPerSecond: runs / seconds,
    perCore: 1_000 / (serverMs + databaseMs),
    serverMs,
    databaseMs,
    p50Ms: median(latencies),
    megabytes: size / 1e6 / seconds,
  };
  process.stderr.write(`${JSON.stringify(row)}\n`);
  return row;
};

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const server = await startMeasured(dataDir, { flags: ['--executors', '1'] });
try {
  const key = readFileSync(join(dataDir, 'admin-key'), 'utf8').trim();
  const parts = (what: string, shape: 'whole' | 'halves', zipped: boolean): Variant => ({
    what,
    path: 'runs/multipart',
    bodies: makeRequests(requests, shape, zipped),
    headers: requestHeaders(key, zipped),
  });
  const spans = (what: string, zipped: boolean): Variant => ({
    what,
    path: 'otel/v1/traces',
    bodies: makeSpanRequests(requests, zipped),
    headers: spanHeaders(key, zipped),
  });
  await measure(server, parts('warm up', 'whole', true));
  await measure(server, spans('warm up', true));
  const rows = [
    await measure(server, parts('whole runs, gzip, as the stock client sends them', 'whole', true)),
    await measure(server, parts('whole runs, not compressed', 'whole', false)),
    await measure(
      server,
      parts('a request that begins each run, and one that ends it (each counts)', 'halves', true),
    ),
    await measure(server, spans('spans of OpenTelemetry, protobuf, gzip', true)),
    await measure(server, spans('spans of OpenTelemetry, protobuf, not compressed', false)),
  ];
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD']).toString().trim();
  const lines = rows.map(
    (row) =>
      `| ${row.what} | ${fixed(row.runsPerSecond, 0)} | ${fixed(row.perCore, 0)} | ${fixed(row.serverMs * 1_000, 0)} | ${fixed(row.databaseMs * 1_000, 0)} | ${fixed(row.p50Ms, 0)} ms |`,
  );
  writeFileSync(
    new URL('./ingest.md', import.meta.url),
    `# Ingest of traces

\`npm run bench:ingest\` sends requests of ${runsPerRequest} runs of about 3 KB, ${senders} at once, to a real server with the embedded PostgreSQL; each
response is sent after the commit. The goal is 2,000 runs/s for each core that is used. Sender, server and database share the machine.

${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), load ${fixed(loadavg()[1] ?? 0, 0)} over five minutes, other work included.

| what | runs/s | runs/s per core of CPU | µs of CPU per run, server | PostgreSQL | a request, p50 |
|---|---|---|---|---|---|
${lines.join('\n')}

Memory of the server process at the end: ${fixed(server.memoryMb(), 0)} MB.
`,
  );
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
