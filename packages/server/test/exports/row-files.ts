// Trace runs in a database, and the export files that contain them.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { RowScope, WrittenFile } from '../../src/exports/parquet/export-file.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { openFolder, scopeOf, defaultLimits, defaultShape, type ExportFolder } from './files.ts';
import { traceWrite } from '../platform/trace-write.ts';

export const now = Date.now();
export const dayMs = 86_400_000;
export const at = (ms: number, micros = 0): string =>
  `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;

export const runOf = (
  session_id: string,
  start_time: string,
  fields: TraceWrite['fields'] = {},
): TraceWrite => traceWrite(start_time, { session_id, ...fields });

export const newScope = (more: Partial<RowScope> = {}): RowScope =>
  scopeOf({ tenant_id: randomUUID(), session_id: randomUUID(), ...more });

export const inOrder = (a: TraceWrite, b: TraceWrite): number => {
  const [one, other] = [`${a.start_time} ${a.id}`, `${b.start_time} ${b.id}`];
  return one < other ? -1 : one > other ? 1 : 0;
};

export const shape = { ...defaultShape, fields: ['id', 'start_time', 'inputs'] as const };

export interface RowFiles extends AsyncDisposable {
  database: TestDatabase;
  folder: ExportFolder;
  store: (tenant_id: string, runs: readonly TraceWrite[]) => Promise<boolean>;
  /** The ids of the rows in the files, in order. */
  idsIn: (files: readonly WrittenFile[]) => Promise<unknown[]>;
}

export const openRowFiles = async (): Promise<RowFiles> => {
  const database = await testDatabase();
  const folder = await openFolder(database);
  return {
    database,
    folder,
    store: (tenant_id, runs) => traceStorage(database).ingest(tenant_id, runs, [], 400),
    async idsIn(files) {
      const contents = await Promise.all(files.map((file) => folder.read(file)));
      expect(contents.map(({ rows }) => rows.length)).toEqual(files.map((file) => file.rows));
      return contents.flatMap(({ rows }) => rows.map((row) => row['id']));
    },
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
};

/** Generates rows and limits, and asserts that the files contain each row once, in order. */
export const expectEachRowOnce = async (
  { folder, store, idsIn }: RowFiles,
  numRuns: number,
): Promise<void> => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          // Within days that have partitions, and long before them.
          ago: fc.constantFrom(0, 1, 3 * dayMs, 3 * dayMs + 1, 700 * dayMs),
          micros: fc.nat(2),
          chars: fc.constantFrom(0, 10, 1_000, 5_000),
        }),
        { maxLength: 40 },
      ),
      fc.record({
        fileBytes: fc.constantFrom(1, 1_500, 6_000, 1e6),
        pageRows: fc.integer({ min: 1, max: 12 }),
        pageBytes: fc.constantFrom(1, 2_000, 1e6),
      }),
      async (generated, limits) => {
        const scope = newScope();
        const runs = generated.map(({ ago, micros, chars }) =>
          runOf(scope.session_id, at(now - ago, micros), { inputs: JSON.stringify('x'.repeat(chars)) }),
        );
        await store(scope.tenant_id, runs);
        const files = await folder.writeAll({ scope, shape, limits: { ...defaultLimits, ...limits } });
        expect(await idsIn(files)).toEqual(runs.toSorted(inOrder).map((run) => run.id));
        // Only the last file is marked as last, and no other is smaller than the limit.
        expect(files.map((file) => file.is_last)).toEqual(
          files.map((_, index) => index === files.length - 1),
        );
        for (const file of files.slice(0, -1))
          expect(file.raw_bytes).toBeGreaterThanOrEqual(limits.fileBytes);
        // A second write of the same range has the same rows.
        const [first, second] = files;
        if (second === undefined) return;
        const again = await folder.write({ scope, shape, after: first?.last ?? null, upTo: second.last });
        expect(again).toMatchObject({ rows: second.rows, last: second.last });
        expect(await idsIn(again ? [again] : [])).toEqual(await idsIn([second]));
      },
    ),
    { numRuns },
  );
};
