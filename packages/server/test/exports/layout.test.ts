// The folder of an export, as readers with Hive partitioning see it: each folder `key=value` becomes a column beside those of the files.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { FormatVersion, LayoutVersion } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { startExportNode } from './export-node.ts';
import { firstDay, newExport, newPlace, sql, statusOf } from './export-tables.ts';
import { inPandas, itInPandas } from './pandas.ts';
import { addRuns } from './stored-runs.ts';
import { fixture } from '../fixture.ts';
import { sharedFolder } from '../folders.ts';

const db = fixture(() => testDatabase());
const folder = sharedFolder();
const place = fixture(() => newPlace(db, folder));
beforeAll(async () => {
  await addRuns(db, place, { start: firstDay, count: 30 });
  await addRuns(db, place, { start: '2026-03-02T00:00:00Z', count: 20 });
});

/** Executes an export of two days. Returns its folder, and the files in it. */
const written = async (how: {
  format_version: FormatVersion;
  layout_version?: LayoutVersion;
}): Promise<{ root: string; files: string[] }> => {
  const id = await newExport(db, place, { days: 2, ...how });
  // The first exporter process has to start.
  await eventually(async () => expect(await statusOf(db, id)).toBe('COMPLETED'), 50_000);
  const root = join(folder, `export_id=${id}`);
  const names = await readdir(root, { recursive: true });
  return { root, files: names.filter((name) => name.endsWith('.parquet')) };
};

const namesOf = (columns: Record<string, unknown>[]): unknown[] =>
  columns.map(({ column_name }) => column_name);

describe('the folder of an export', () => {
  fixture(() => startExportNode(db));

  it.each(['v1', 'v2_beta'] as const)(
    'of %s has no folder key with the name of a column, and DuckDB reads its Hive partitions',
    async (format_version) => {
      const { root, files } = await written({ format_version });
      const instance = await DuckDBInstance.create(':memory:');
      const duckdb = await instance.connect();
      const query = async (text: string): Promise<Record<string, unknown>[]> =>
        (await duckdb.runAndReadAll(text)).getRowObjectsJson();
      const all = `read_parquet('${root}/**/*.parquet', hive_partitioning = true)`;
      const plain = `read_parquet('${root}/**/*.parquet', hive_partitioning = false)`;

      const folders = dirname(files[0] ?? '').split('/');
      const keys = folders.map((name) => name.slice(0, name.indexOf('=')));
      expect(keys).toEqual(['workspace', 'project', 'resource', 'year', 'month', 'day']);
      const columns = namesOf(await query(`describe select * from ${plain}`));
      expect(columns).toEqual(expect.arrayContaining(['tenant_id', 'session_id']));
      // Arrow rejects a folder whose key is also a column.
      expect(['export_id', ...keys].filter((key) => columns.includes(key))).toEqual([]);
      const withKeys = namesOf(await query(`describe select * from ${all}`));
      expect(withKeys).toHaveLength(columns.length + 1 + keys.length);
      expect(withKeys).toEqual(expect.arrayContaining([...columns, 'export_id', ...keys]));

      expect(await query(`select count(*)::integer as rows from ${all}`)).toEqual([{ rows: 50 }]);
      expect(
        await query(`select year, month, day, count(*)::integer as rows from ${all}
          where workspace = tenant_id and project = session_id and day = extract(day from start_time) group by all order by day`),
      ).toEqual([
        { year: '2026', month: '3', day: '1', rows: 30 },
        { year: '2026', month: '3', day: '2', rows: 20 },
      ]);
      duckdb.closeSync();
      instance.closeSync();
    },
  );

  itInPandas('is read as a whole by pandas, with its keys as columns', async () => {
    for (const format_version of ['v1', 'v2_beta'] as const) {
      const { root } = await written({ format_version });
      expect(inPandas(root, 'len(frame)')).toBe(50);
      expect(
        inPandas(root, 'frame.groupby(["year", "month", "day"]).size().reset_index().values.tolist()'),
      ).toEqual([
        [2026, 3, 1, 30],
        [2026, 3, 2, 20],
      ]);
      expect(inPandas(root, 'bool((frame.workspace.astype(str) == frame.tenant_id).all())')).toBe(true);
    }
  });

  it.each([
    ['v1', 'runs'],
    ['v2_beta', 'resource=runs'],
  ] as const)(
    'of %s with layout 1 has the folders of the workspace and the project',
    async (format_version, resource) => {
      const { files } = await written({ format_version, layout_version: 1 });
      const { tenant_id, session_id } = place;
      expect(files[0]).toMatch(
        `tenant_id=${tenant_id}/session_id=${session_id}/${resource}/year=2026/month=3/day=`,
      );
    },
  );
});

describe('a schedule', () => {
  it('creates exports with its layout', async () => {
    const schedules = [
      await newExport(db, place, { interval_hours: 24, layout_version: 1 }),
      await newExport(db, place, { interval_hours: 24 }),
    ];
    await sql(db, `select spawn_exports('0', 1, 10)`);
    const spawned = await sql<{ layout_version: number }>(
      db,
      `select layout_version from exports where source_export_id = any ($1) order by array_position($1, source_export_id)`,
      [schedules],
    );
    expect(spawned.map(({ layout_version }) => layout_version)).toEqual([1, 2]);
  });
});
