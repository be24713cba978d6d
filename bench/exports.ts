// The speed, CPU and memory of writing files of an export; writes bench/exports.md.
// Usage: npm run bench:exports (SVC_BENCH_RUNS=1000000)
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../packages/server/src/storage/postgres/database.ts';
import { openEmbedded } from '../packages/server/src/storage/embedded/embedded.ts';
import { migrate } from '../packages/server/src/storage/schema/migrate.ts';
import type { ExportBench, ExportFigure } from './export-process.ts';
import { fixed } from './report.ts';
import { dayBefore, fillStore } from './stored-runs.ts';

const runs = Number(process.env['SVC_BENCH_RUNS'] ?? 1_000_000);
const dayCount = 10;
const script = fileURLToPath(new URL('./export-process.ts', import.meta.url));

const measured = (what: string, bench: ExportBench): ExportFigure => {
  const args = ['--import', 'tsx', script, what, JSON.stringify(bench)];
  const figure = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as ExportFigure;
  process.stderr.write(`${rowOf(figure)}\n`);
  return figure;
};

const perCore = ({ megabytes, ourSeconds, databaseSeconds }: ExportFigure): number =>
  megabytes / (ourSeconds + databaseSeconds);

const rowOf = (figure: ExportFigure): string => {
  const { what, rows, megabytes, fileMegabytes, seconds, ourSeconds, databaseSeconds, peakMegabytes } =
    figure;
  const cells = [
    what,
    fixed(perCore(figure), 1),
    fixed((ourSeconds / megabytes) * 1_000, 1),
    fixed((databaseSeconds / megabytes) * 1_000, 1),
    fixed(megabytes / seconds, 1),
    fixed(rows / seconds, 0),
    fileMegabytes === 0 ? '' : fixed(megabytes / fileMegabytes, 2),
    fixed(peakMegabytes, 0),
  ];
  return `| ${cells.join(' | ')} |`;
};

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
{
  await using embedded = await openEmbedded({ dataDir });
  await using db = await openDatabase({ connection: embedded.connection });
  await migrate(db);
  const [tenant_id, session_id] = [randomUUID(), randomUUID()];
  await db.query({ text: `insert into workspaces (id, display_name) values ($1, 'bench')` }, [tenant_id]);
  await fillStore(db, { tenant_id, session_id }, { runs, days: dayCount });
  const days = Array.from({ length: dayCount }, (_, index) => dayBefore(dayCount - index));
  const bench: ExportBench = { connection: embedded.connection, tenant_id, session_id, days };
  const load = loadavg()[0] ?? 0;
  const figures = ['read', 'ceiling', 'zstandard', 'ceiling', 'none', 'snappy', 'gzip'].map((what) =>
    measured(what, bench),
  );
  const zstandard = figures.find(({ what }) => what === 'files, zstandard');
  const ceilings = figures.filter(({ what }) => what.startsWith('DuckDB'));
  const ceiling = ceilings.reduce((sum, figure) => sum + perCore(figure), 0) / ceilings.length;
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  writeFileSync(
    new URL('./exports.md', import.meta.url),
    `# Files of exports

\`npm run bench:exports\` fills a store with ${runs} runs of about 3.8 KB over ${dayCount} days and writes them to files of at most 100 MB, with
the usual 29 columns, each line in a separate process with one connection. MB are rows before compression.

${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), load ${fixed(load, 1)} at the start.

| what | MB/s per core | our CPU ms/MB | PostgreSQL CPU ms/MB | MB/s by the clock | rows/s | raw to file | peak MB |
|---|---|---|---|---|---|---|---|
${figures.map(rowOf).join('\n')}

Per core means per second of CPU of PostgreSQL's process and ours together; the goal is 50. Peak memory is that of the whole
process, about 150 MB of it before the first row; the goal is 512. DuckDB alone, which has its rows in memory and only encodes and compresses them,
is the upper bound: files are written at ${fixed(((zstandard ? perCore(zstandard) : 0) / ceiling) * 100, 0)} % of it. Other work on the machine lowers every figure, including the upper bound.
`,
  );
}
rmSync(dataDir, { recursive: true, force: true });
