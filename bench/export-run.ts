// The speed of whole exports, from the claim to the manifest, with one exporter and with two; writes bench/export-run.md.
// Usage: npm run bench:export-run (SVC_BENCH_RUNS=100000)
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testSettings } from '../packages/server/test/settings.ts';
import { NotificationBus } from '../packages/server/src/jobs/notification-bus.ts';
import { partitionsOf } from '../packages/server/src/exports/api/export-request.ts';
import { ExportWorker } from '../packages/server/src/exports/worker/export-worker.ts';
import { openDatabase, type Database } from '../packages/server/src/storage/postgres/database.ts';
import { openEmbedded, type EmbeddedPostgres } from '../packages/server/src/storage/embedded/embedded.ts';
import { migrate } from '../packages/server/src/storage/schema/migrate.ts';
import { createStorage } from '../packages/server/src/storage/storage.ts';
import { createLogger } from '../packages/server/src/telemetry/logger.ts';
import type { ExportBench, ExportFigure } from './export-process.ts';
import { fixed } from './report.ts';
import { dayBefore, fillStore } from './stored-runs.ts';

const runs = Number(process.env['SVC_BENCH_RUNS'] ?? 1_000_000);
const dayCount = 10;
const ticksPerSecond = 100;

interface Stat {
  parent: number;
  cpuSeconds: number;
  /** CPU seconds of its children that have ended and that it has waited for. */
  childSeconds: number;
}

const statOf = (pid: number): Stat | undefined => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const [user, system, childUser, childSystem] = fields
      .slice(11, 15)
      .map((ticks) => Number(ticks) / ticksPerSecond);
    return {
      parent: Number(fields[1]),
      cpuSeconds: (user ?? 0) + (system ?? 0),
      childSeconds: (childUser ?? 0) + (childSystem ?? 0),
    };
  } catch {
    return undefined; // it has just ended
  }
};

const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statOf(Number(name))?.parent === pid)
    .map(Number);

/** CPU seconds of PostgreSQL. Backends are children of the postmaster, and end with their exporters. */
const databaseSeconds = (postmaster: number): number =>
  (statOf(postmaster)?.childSeconds ?? 0) +
  childrenOf(postmaster).reduce((sum, pid) => sum + (statOf(pid)?.cpuSeconds ?? 0), 0);

const peakMb = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return 0; // it has just ended
  }
};

const measure = async (
  db: Database,
  embedded: EmbeddedPostgres,
  {
    place,
    slots,
    dataDir,
  }: { place: { tenant_id: string; session_id: string }; slots: number; dataDir: string },
): Promise<string> => {
  const folder = join(dataDir, 'out');
  const storage = createStorage(db);
  const destination_id = randomUUID();
  await db.query(
    {
      name: '',
      text: `insert into export_destinations (tenant_id, id, destination_type, display_name, config) values ($1, $2, 'file', 'd', $3)`,
    },
    [place.tenant_id, destination_id, JSON.stringify({ path: folder })],
  );
  const settings = testSettings({
    dataDir,
    databaseUri: 'postgresql://unused',
    exportSlots: String(slots),
    exportFileRoots: dataDir,
  });
  const notifications = new NotificationBus();
  await using worker = new ExportWorker({
    leases: storage.exportLeases,
    targetOf: (tenant_id, id) =>
      Promise.resolve({ destination_type: 'file', tenant_id, id, config: { path: folder } }),
    notifications,
    database: { connection: embedded.connection },
    slots: settings.exports.slots,
    settings,
    logger: createLogger(settings.log),
  });
  await notifications.open(db);
  await using _ = notifications;
  const id = randomUUID();
  const window = {
    start: `${dayBefore(dayCount)}T00:00:00.000000Z`,
    end: `${dayBefore(0)}T00:00:00.000000Z`,
  };
  const started = performance.now();
  const database = databaseSeconds(embedded.pid);
  const own = process.cpuUsage();
  await storage.exports.create(
    {
      ...place,
      id,
      destination_id,
      window_start: window.start,
      window_end: window.end,
      filter: null,
      format_version: 'v1',
      layout_version: 2,
      compression: 'zstandard',
      export_fields: null,
      interval_hours: null,
      source_export_id: null,
    },
    partitionsOf(window),
    10,
  );
  const exporters = new Map<number, { seconds: number; peak: number }>();
  for (;;) {
    for (const pid of childrenOf(process.pid)) {
      if (pid === embedded.pid) continue;
      const { cpuSeconds } = statOf(pid) ?? { cpuSeconds: 0 };
      exporters.set(pid, { seconds: cpuSeconds, peak: Math.max(peakMb(pid), exporters.get(pid)?.peak ?? 0) });
    }
    const found = await storage.exports.find(place.tenant_id, id);
    if (found?.status === 'COMPLETED') break;
    if (found?.status !== 'RUNNING' && found?.status !== 'CREATED')
      throw new Error(`${found?.status}: ${found?.error}`);
    // Polled slowly, because the CPU time of polls is counted.
    await sleep(1_000);
  }
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(own);
  const { rows, rawBytes, bytes } = worker.figures();
  const peaks = [...exporters.values()].filter((one) => one.seconds > 0.5);
  const cpu =
    peaks.reduce((sum, one) => sum + one.seconds, 0) +
    (user + system) / 1e6 +
    databaseSeconds(embedded.pid) -
    database;
  rmSync(folder, { recursive: true, force: true });
  const megabytes = rawBytes / 1e6;
  const cells = [
    String(slots),
    fixed(megabytes / cpu, 1),
    fixed(megabytes / seconds, 1),
    fixed(rows / seconds, 0),
    fixed(rawBytes / bytes, 2),
    peaks.map(({ peak }) => fixed(peak, 0)).join(', '),
    fixed(peakMb(process.pid), 0),
  ];
  return `| ${cells.join(' | ')} |`;
};

/** MB/s per core of DuckDB alone, which writes the rows of one file from memory several times. */
const ceilingOf = (bench: ExportBench): number => {
  const script = fileURLToPath(new URL('./export-process.ts', import.meta.url));
  const args = ['--import', 'tsx', script, 'ceiling', JSON.stringify(bench)];
  const figure = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as ExportFigure;
  return figure.megabytes / figure.ourSeconds;
};

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
{
  await using embedded = await openEmbedded({ dataDir });
  await using db = await openDatabase({ connection: embedded.connection });
  await migrate(db);
  const place = { tenant_id: randomUUID(), session_id: randomUUID() };
  await db.query({ text: `insert into workspaces (id, display_name) values ($1, 'bench')` }, [
    place.tenant_id,
  ]);
  await db.query({ text: `insert into projects (tenant_id, id, name) values ($1, $2, 'bench')` }, [
    place.tenant_id,
    place.session_id,
  ]);
  await fillStore(db, place, { runs, days: dayCount });
  const load = loadavg()[0] ?? 0;
  const lines: string[] = [];
  const days = Array.from({ length: dayCount }, (_, index) => dayBefore(dayCount - index));
  const ceilings = [ceilingOf({ connection: embedded.connection, ...place, days })];
  for (const slots of [1, 2]) {
    lines.push(await measure(db, embedded, { place, slots, dataDir }));
    process.stderr.write(`${lines.at(-1)}\n`);
  }
  ceilings.push(ceilingOf({ connection: embedded.connection, ...place, days }));
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  writeFileSync(
    new URL('./export-run.md', import.meta.url),
    `# Whole exports

\`npm run bench:export-run\` fills a store with ${runs} runs of about 3.8 KB over ${dayCount} days and exports them to a folder, as a server does: claims,
exporters, files of 100 MB in zstandard, verification, manifest. MB are rows before compression.

${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), load ${fixed(load, 1)} at the start.

| exporters | MB/s per core | MB/s by the clock | rows/s | raw to file | peak MB of each exporter | peak MB of the worker |
|---|---|---|---|---|---|---|
${lines.join('\n')}

Per core means per second of CPU of all processes. Most of the worker's memory was used to fill the store. DuckDB alone, which has the rows in memory and only encodes and compresses them, wrote ${ceilings.map((one) => fixed(one, 1)).join(' before and ')} MB/s per core
after it.
`,
  );
}
rmSync(dataDir, { recursive: true, force: true });
