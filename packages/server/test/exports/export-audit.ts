// Checks what a completed export promises, against its destination and the database.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { ExportManifest } from '@svc/contract';
import { expect } from 'vitest';
import type { Database } from '../../src/storage/postgres/database.ts';
import type { Gateway, S3User } from '../s3/gateway.ts';
import { readWithDuckDB } from '../s3/read-with-duckdb.ts';
import { sql } from './export-tables.ts';
import { idsFor } from './stored-runs.ts';

/** A destination as its owner sees it; keys are full keys. */
export interface DestinationView {
  objects(): Promise<{ key: string; size: number }[]>;
  read(key: string): Promise<Uint8Array>;
  /** Keys of temporary files and open uploads. */
  unfinished(): Promise<string[]>;
}

export const folderView = (folder: string): DestinationView => {
  const list = async (): Promise<{ key: string; size: number }[]> => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return Promise.all(
      entries
        .filter((entry) => entry.isFile())
        .map(async (entry) => {
          const path = join(entry.parentPath, entry.name);
          return { key: relative(folder, path), size: (await stat(path)).size };
        }),
    );
  };
  const isPart = ({ key }: { key: string }): boolean => key.endsWith('.svc-part');
  return {
    objects: async () => (await list()).filter((file) => !isPart(file)),
    read: (key) => readFile(join(folder, key)),
    unfinished: async () => (await list()).filter(isPart).map(({ key }) => key),
  };
};

/** Objects are read with the given user's keys, because the owner of the bucket may not read them. */
export const bucketView = (
  gateway: Gateway,
  bucket: string,
  { keys }: Pick<S3User, 'keys'> = gateway,
): DestinationView => ({
  objects: () => gateway.objects(bucket),
  async read(key) {
    const { Body } = await gateway.client(keys).send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    if (!Body) throw new Error(`${key} came without a body`);
    return Body.transformToByteArray();
  },
  unfinished: async () => (await gateway.uploads(bucket)).map(({ key }) => key),
});

const rowsOf = async (bytes: Uint8Array): Promise<{ id: string; start_time: string }[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-audit-'));
  try {
    const path = join(folder, 'file.parquet');
    await writeFile(path, bytes);
    const { rows } = await readWithDuckDB(path);
    return rows.map(({ id, start_time }) => ({ id: String(id), start_time: String(start_time) }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** The objects of one export, below its prefix, whatever else is at the destination. */
const ofExport = async (view: DestinationView, export_id: string) => {
  const mine = (key: string): boolean => key.includes(`export_id=${export_id}/`);
  return {
    objects: (await view.objects()).filter(({ key }) => mine(key)),
    unfinished: (await view.unfinished()).filter(mine),
  };
};

/** All ids in the files, in the order of the manifest. */
export const idsIn = async (view: DestinationView, keys: readonly string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const key of keys) ids.push(...(await rowsOf(await view.read(key))).map(({ id }) => id));
  return ids;
};

/**
 * Checks that the files are exactly those of the manifest, that each matches its entry, and that together they contain every row of the
 * export once. With `isFrozen` false, rows have been deleted since, so the files may contain more.
 */
export const checkCompleted = async (
  db: Database,
  view: DestinationView,
  export_id: string,
  { isFrozen = true } = {},
): Promise<ExportManifest> => {
  const [row] = await sql<{ status: string; manifest: string; error: string | null }>(
    db,
    'select status, manifest, error from exports where id = $1',
    [export_id],
  );
  expect(row).toMatchObject({ status: 'COMPLETED', error: null });
  const { objects, unfinished } = await ofExport(view, export_id);
  expect(unfinished).toEqual([]);
  const manifestObject = objects.find(({ key }) => key.endsWith('/_manifest.json'));
  const text = Buffer.from(await view.read(manifestObject?.key ?? 'no manifest')).toString();
  expect(text).toBe(row?.manifest);
  const manifest = ExportManifest.parse(JSON.parse(text));
  expect(objects.map(({ key }) => key).toSorted()).toEqual(
    [...manifest.files.map(({ key }) => key), manifestObject?.key ?? ''].toSorted(),
  );
  const ids: string[] = [];
  for (const file of manifest.files) {
    const bytes = await view.read(file.key);
    const rows = await rowsOf(bytes);
    const times = rows.map(({ start_time }) => start_time.replace(/Z?$/, 'Z'));
    expect({
      rows: rows.length,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      min_start_time: times[0],
      max_start_time: times.at(-1),
    }).toEqual({
      rows: file.rows,
      bytes: file.bytes,
      sha256: file.sha256,
      min_start_time: file.min_start_time,
      max_start_time: file.max_start_time,
    });
    expect(times).toEqual(times.toSorted());
    expect(file.min_start_time >= file.partition.start_time).toBe(true);
    expect(file.max_start_time < file.partition.end_time).toBe(true);
    ids.push(...rows.map(({ id }) => id));
  }
  expect(manifest.rows).toBe(ids.length);
  expect(new Set(ids).size).toBe(ids.length);
  const stored = await idsFor(db, export_id);
  if (isFrozen) expect(ids.toSorted()).toEqual(stored);
  else expect(new Set(ids)).toEqual(new Set([...ids, ...stored]));
  return manifest;
};

/** Checks that an unfinished export has no manifest and no open upload. */
export const checkUnfinished = async (view: DestinationView, export_id: string): Promise<string[]> => {
  const { objects, unfinished } = await ofExport(view, export_id);
  expect(unfinished).toEqual([]);
  expect(objects.map(({ key }) => key).filter((key) => key.endsWith('_manifest.json'))).toEqual([]);
  return objects.map(({ key }) => key);
};
