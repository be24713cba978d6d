// A process that writes files as an exporter does, and reports its figures; started by bench/exports.ts.
import { DuckDBInstance } from '@duckdb/node-api';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PoolConfig } from 'pg';
import { type Compression, usualExportFields } from '../packages/contract/src/index.ts';
import {
  fileLimits,
  type RowPlace,
  type RowScope,
} from '../packages/server/src/exports/parquet/export-file.ts';
import { fileWriter } from '../packages/server/src/exports/parquet/write-file.ts';
import { openDatabase } from '../packages/server/src/storage/postgres/database.ts';
import { exportRows } from '../packages/server/src/storage/exports/export-rows.ts';

export interface ExportBench {
  connection: PoolConfig;
  tenant_id: string;
  session_id: string;
  days: string[];
}

export interface ExportFigure {
  what: string;
  rows: number;
  megabytes: number;
  fileMegabytes: number;
  seconds: number;
  ourSeconds: number;
  databaseSeconds: number;
  peakMegabytes: number;
}

const ticksPerSecond = 100;
const fileBytes = 100 * 1_024 ** 2;
const signal = new AbortController().signal;

const secondsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

const peakMegabytes = (): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024;

type Work = () => Promise<{ rows: number; bytes: number; fileBytes: number }>;

const measure = async (what: string, backend: number, work: Work): Promise<ExportFigure> => {
  const [cpu, database, started] = [process.cpuUsage(), secondsOf(backend), performance.now()];
  const { rows, bytes, fileBytes: written } = await work();
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    what,
    rows,
    megabytes: bytes / 1e6,
    fileMegabytes: written / 1e6,
    seconds,
    ourSeconds: (user + system) / 1e6,
    databaseSeconds: secondsOf(backend) - database,
    peakMegabytes: peakMegabytes(),
  };
};

const [what = '', given = ''] = process.argv.slice(2);
const { connection, tenant_id, session_id, days } = JSON.parse(given) as ExportBench;
await using db = await openDatabase({ connection, poolMax: 1 });
const [found] = await db.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' }, []);
const backend = found?.pid ?? 0;
const path = join(tmpdir(), `svc-bench-${process.pid}.parquet`);
const fields = usualExportFields;

const scopeOf = (day: string): RowScope => ({
  tenant_id,
  session_id,
  since: `${day}T00:00:00.000000Z`,
  until: new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString(),
  inserted_until: '9999-01-01T00:00:00Z',
  condition: null,
});

const readOnly: Work = async () => {
  const sums = { rows: 0, bytes: 0, fileBytes: 0 };
  const limits = { rows: 5_000, bytes: fileBytes };
  for (const day of days)
    for (let after: RowPlace | null = null, isMore = true; isMore;) {
      const order = { scope: scopeOf(day), fields, after, upTo: null, limits };
      const page = await exportRows(db).page(order, () => undefined, signal);
      sums.rows += page.rows;
      sums.bytes += page.raw_bytes;
      after = page.next;
      isMore = after !== null;
    }
  return sums;
};

const writeFiles =
  (compression: Compression): Work =>
  async () => {
    const sums = { rows: 0, bytes: 0, fileBytes: 0 };
    const write = fileWriter(db);
    const shape = { fields, format_version: 'v1', compression } as const;
    for (const day of days)
      for (let after: RowPlace | null = null, isMore = true; isMore;) {
        const limits = fileLimits(fileBytes);
        const file = await write({ scope: scopeOf(day), shape, limits, after, upTo: null, path }, signal);
        if (file === undefined) break;
        sums.rows += file.rows;
        sums.bytes += file.raw_bytes;
        sums.fileBytes += file.bytes;
        after = file.last;
        isMore = !file.is_last;
        rmSync(path);
      }
    return sums;
  };

/** Writes the rows of one file from a table in memory: the maximum speed of DuckDB alone. */
const ceiling = async (): Promise<ExportFigure> => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const duckdb = await instance.connect();
  let raw = 0;
  let rows = 0;
  const [day = ''] = days;
  const file = await fileWriter(db)(
    {
      scope: scopeOf(day),
      shape: { fields, format_version: 'v1', compression: 'zstandard' },
      limits: fileLimits(fileBytes),
      after: null,
      upTo: null,
      path,
    },
    signal,
  );
  raw = file?.raw_bytes ?? 0;
  rows = file?.rows ?? 0;
  await duckdb.run(`create table held as select * from read_parquet('${path}')`);
  const times = 10;
  const figure = await measure('DuckDB alone, from memory, zstandard', backend, async () => {
    for (let time = 0; time < times; time++)
      await duckdb.run(`copy held to '${path}' (format parquet, compression zstd, row_group_size 8192)`);
    return { rows: rows * times, bytes: raw * times, fileBytes: (file?.bytes ?? 0) * times };
  });
  rmSync(path);
  return figure;
};

const figure =
  what === 'ceiling'
    ? await ceiling()
    : what === 'read'
      ? await measure('rows read, nothing done with them', backend, readOnly)
      : await measure(`files, ${what}`, backend, writeFiles(what as Compression));
process.stdout.write(`${JSON.stringify(figure)}\n`);
