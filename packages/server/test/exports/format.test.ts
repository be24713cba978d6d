// The format of a file: its schema, its row groups, and what remains when it is aborted.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Compression, FormatVersion } from '@svc/contract';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { openFolder, scopeOf, defaultLimits, defaultShape, type ExportFolder } from './files.ts';

let database: TestDatabase;
let folder: ExportFolder;
beforeAll(async () => {
  database = await testDatabase();
  folder = await openFolder(database);
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const tenant_id = randomUUID();
const start = Date.now() - 1_000_000;

/** Creates a project with the given number of trace runs. */
const fill = async (count: number, fields: (index: number) => TraceWrite['fields']): Promise<string> => {
  const session_id = randomUUID();
  for (let from = 0; from < count; from += 1_000) {
    const runs = Array.from({ length: Math.min(1_000, count - from) }, (_, index): TraceWrite => ({
      id: randomUUID(),
      rank: 0,
      patched: 0,
      writes: ['1'],
      start_time: `${new Date(start + from + index).toISOString().slice(0, -1)}000Z`,
      metadata: '{}',
      fields: { session_id, ...fields(from + index) },
    }));
    await traceStorage(database).ingest(tenant_id, runs, [], 400);
  }
  return session_id;
};

const codecs: Record<Compression, string> = {
  none: 'UNCOMPRESSED',
  gzip: 'GZIP',
  snappy: 'SNAPPY',
  zstandard: 'ZSTD',
};
const versions: FormatVersion[] = ['v1', 'v2_beta'];
const combinations = versions.flatMap((format_version) =>
  (Object.keys(codecs) as Compression[]).map((compression) => ({ format_version, compression })),
);

describe('a file', () => {
  it.each(combinations)(
    'of $format_version with $compression has one schema, whatever its values',
    async (how) => {
      const shape = { ...defaultShape, ...how };
      const bare = await fill(1, () => ({}));
      const full = await fill(3, (index) => ({
        name: 'n',
        inputs: JSON.stringify('x'.repeat(10_000)),
        tags: index === 0 ? '["a"]' : null,
        total_tokens: '5',
        total_cost: '0.5',
        dotted_order: 'a.b',
      }));
      const [one, other] = await Promise.all(
        [bare, full].map(async (session_id) => {
          const file = await folder.write({ scope: scopeOf({ tenant_id, session_id }), shape });
          const written = file ?? expect.fail('no file');
          const bytes = await readFile(written.path);
          expect(written).toMatchObject({
            bytes: bytes.length,
            sha256: createHash('sha256').update(bytes).digest('hex'),
          });
          return folder.read(written);
        }),
      );
      expect(one?.columns).toEqual(other?.columns);
      expect(other?.codecs).toEqual([codecs[how.compression]]);
      const logical = Object.fromEntries(one?.columns.map(({ path, logical: type }) => [path, type]) ?? []);
      const isFirst = how.format_version === 'v1';
      expect(logical).toMatchObject({
        id: 'STRING',
        inputs: 'STRING',
        start_time: `TIMESTAMP(MICROS,${isFirst ? 'false' : 'true'})`,
        tags: isFirst ? 'STRING' : 'LIST',
      });
      const physical = Object.fromEntries(one?.columns.map(({ path, physical: type }) => [path, type]) ?? []);
      expect(physical).toMatchObject({
        total_tokens: 'INT64',
        total_cost: 'DOUBLE',
        is_root: 'BOOLEAN',
        start_time: 'INT64',
      });
      expect(one?.columns.map(({ path }) => path).filter((path) => !path.includes('.'))).toEqual(
        shape.fields,
      );
    },
  );

  it('has row groups within the limits', async () => {
    const session_id = await fill(9_000, (index) => ({
      inputs: JSON.stringify(randomBytes(index < 4_096 ? 10 : 500).toString('hex')),
    }));
    const scope = scopeOf({ tenant_id, session_id });
    const shape = { ...defaultShape, fields: ['id', 'inputs'] as const };
    const groupsOf = async (limits: Partial<typeof defaultLimits>): Promise<number[]> => {
      const file = await folder.write({ scope, shape, limits: { ...defaultLimits, ...limits } });
      return (await folder.read(file ?? expect.fail('no file'))).rowGroups.map(({ rows }) => rows);
    };
    expect(await groupsOf({})).toEqual([9_000]);
    expect(await groupsOf({ rowGroupRows: 5_000 })).toEqual([4_096, 4_096, 808]);
    // Blocks of 2,048 rows of more than 2 MB each; the last two are smaller.
    expect(await groupsOf({ rowGroupBytes: 3_000_000 })).toEqual([2_048, 2_048, 2_048, 2_048, 808]);
  });

  it.each([1, 50, 250, 600])('leaves nothing behind when it is aborted after %i ms', async (ms) => {
    const session_id = (long ??= await fill(6_000, () => ({
      inputs: JSON.stringify(randomBytes(3_000).toString('hex')),
    })));
    const before = await folder.names();
    const scope = scopeOf({ tenant_id, session_id });
    const reason = new Error('enough');
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(reason), ms);
    const limits = { ...defaultLimits, pageRows: 500 };
    const outcome = await folder
      .write({ scope, limits, shape: { ...defaultShape, compression: 'gzip' } }, abort.signal)
      .catch((error: unknown) => error);
    clearTimeout(timer);
    // It may have completed before the abort.
    if (ms === 1 || outcome instanceof Error) expect(outcome).toBe(reason);
    expect((await folder.names()).length - before.length).toBe(outcome === reason ? 0 : 1);
    // The database can be queried as before.
    expect(await folder.write({ scope, limits: { ...limits, fileBytes: 1 } })).toMatchObject({ rows: 1 });
  });
  let long: string | undefined;

  it('leaves nothing behind when it cannot be written', async () => {
    const session_id = await fill(1, () => ({}));
    const path = '/nowhere/file.parquet';
    await expect(folder.write({ scope: scopeOf({ tenant_id, session_id }), path })).rejects.toThrow(
      /nowhere/,
    );
  });
});
