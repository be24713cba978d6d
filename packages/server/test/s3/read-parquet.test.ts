import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ParquetContents } from './parquet-contents.ts';
import { compareContents, readParquet } from './read-parquet.ts';

describe('a Parquet file', () => {
  let file: string;
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-parquet-test-'));
    file = join(folder, 'written.parquet');
    return () => rm(folder, { recursive: true });
  });

  const write = async (select: string, options = 'compression zstd'): Promise<void> => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(`set TimeZone = 'UTC'`);
    await connection.run(`copy (${select}) to '${file}' (format parquet, ${options})`);
    connection.closeSync();
    instance.closeSync();
  };
  const columnOf = async (value: string): Promise<unknown> => {
    await write(`select ${value} as v`);
    const { rows, columns } = await readParquet(file);
    const [{ physical, logical } = { physical: '', logical: '' }] = columns;
    return [rows[0]?.['v'], physical, logical];
  };

  it.each([
    [`'text ✓'`, 'text ✓', 'BYTE_ARRAY', 'STRING'],
    [`''`, '', 'BYTE_ARRAY', 'STRING'],
    [`null::varchar`, null, 'BYTE_ARRAY', 'STRING'],
    [`true`, true, 'BOOLEAN', null],
    [`-7::integer`, -7, 'INT32', 'INTEGER(32,true)'],
    [`12::bigint`, 12, 'INT64', 'INTEGER(64,true)'],
    [`9007199254740993::bigint`, 9007199254740993n, 'INT64', 'INTEGER(64,true)'],
    [`18446744073709551615::ubigint`, 18446744073709551615n, 'INT64', 'INTEGER(64,false)'],
    [`0.1::double`, 0.1, 'DOUBLE', null],
    [`-0.05::decimal(9,2)`, '-0.05', 'INT32', 'DECIMAL(9,2)'],
    [`123456789.000001::decimal(18,6)`, '123456789.000001', 'INT64', 'DECIMAL(18,6)'],
    [`-1.000000000001::decimal(38,12)`, '-1.000000000001', 'FIXED_LEN_BYTE_ARRAY', 'DECIMAL(38,12)'],
    [`null::decimal(38,12)`, null, 'FIXED_LEN_BYTE_ARRAY', 'DECIMAL(38,12)'],
    [
      `timestamp '2026-02-03 04:05:06.123456'`,
      '2026-02-03T04:05:06.123456Z',
      'INT64',
      'TIMESTAMP(MICROS,false)',
    ],
    [
      `timestamptz '1969-12-31 23:59:59.999999+00'`,
      '1969-12-31T23:59:59.999999Z',
      'INT64',
      'TIMESTAMP(MICROS,true)',
    ],
    [
      `timestamp_ns '2026-02-03 04:05:06.123456789'`,
      '2026-02-03T04:05:06.123456789Z',
      'INT64',
      'TIMESTAMP(NANOS,false)',
    ],
    [
      `timestamp_ms '2026-02-03 04:05:06.123'`,
      '2026-02-03T04:05:06.123000Z',
      'INT64',
      'TIMESTAMP(MILLIS,false)',
    ],
    [`date '1969-12-31'`, '1969-12-31', 'INT32', 'DATE'],
    [`'{"a": 1}'::json`, '{"a": 1}', 'BYTE_ARRAY', 'JSON'],
    [
      `'0197a5b0-0000-7000-8000-000000000001'::uuid`,
      '0197a5b0-0000-7000-8000-000000000001',
      'FIXED_LEN_BYTE_ARRAY',
      'UUID',
    ],
    [`'\\xFF\\x00'::blob`, new Uint8Array([255, 0]), 'BYTE_ARRAY', null],
    [`['a', null]`, ['a', null], null, 'LIST'],
    [`[]::varchar[]`, [], null, 'LIST'],
    [`null::varchar[]`, null, null, 'LIST'],
    [`{a: 1, b: ['x']}`, { a: 1, b: ['x'] }, null, null],
    [`map {'k': 1}`, { k: 1 }, null, 'MAP'],
  ])('with %s reads the same with both readers', async (sql, value, physical, logical) => {
    expect(await columnOf(sql)).toEqual([value, physical, logical]);
  });

  it('has the paths of nested columns', async () => {
    await write(`select ['a'] as tags, 1 as n`);
    const { columns } = await readParquet(file);
    expect(columns).toMatchObject([
      { path: 'tags', repetition: 'OPTIONAL' },
      { path: 'tags.list', repetition: 'REPEATED' },
      { path: 'tags.list.element', logical: 'STRING' },
      { path: 'n' },
    ]);
  });

  it.each(['zstd', 'snappy', 'gzip', 'uncompressed'])('has row groups, compressed with %s', async (codec) => {
    await write('select i from range(5000) r(i)', `compression ${codec}, row_group_size 2048`);
    const { rows, rowGroups, codecs } = await readParquet(file);
    expect(rows).toHaveLength(5_000);
    expect(rows.at(-1)).toEqual({ i: 4_999 });
    expect(rowGroups.map((group) => group.rows)).toEqual([2_048, 2_048, 904]);
    expect(codecs).toEqual([codec.toUpperCase()]);
  });

  it('has the same contents from its bytes as from its path', async () => {
    await write('select i from range(10) r(i)');
    expect(await readParquet(await readFile(file))).toEqual(await readParquet(file));
  });

  it('without rows has a schema', async () => {
    await write('select 1 as n where false');
    expect(await readParquet(file)).toMatchObject({ rows: [], columns: [{ path: 'n' }] });
  });

  it('that is truncated is rejected', async () => {
    await write('select i from range(1000) r(i)');
    const bytes = await readFile(file);
    await expect(readParquet(bytes.subarray(0, bytes.length - 100))).rejects.toThrow();
  });
});

describe('comparing two readers', () => {
  const contents: ParquetContents = {
    rows: [{ n: 1 }, { n: 2 }],
    columns: [{ path: 'n', physical: 'INT32', logical: null, repetition: 'OPTIONAL' }],
    rowGroups: [{ rows: 2, bytes: 10 }],
    codecs: ['ZSTD'],
  };

  it.each<[Partial<ParquetContents>, string]>([
    [{ rows: [{ n: 1 }, { n: 3 }] }, 'Row 2: DuckDB reads { n: 2 }, hyparquet { n: 3 }'],
    [{ rows: [{ n: 1 }] }, 'Number of rows: DuckDB reads 2, hyparquet 1'],
    [{ columns: [] }, 'Column 1 of the schema'],
    [{ rowGroups: [{ rows: 2, bytes: 11 }] }, 'Row groups'],
    [{ codecs: ['GZIP'] }, 'Codecs'],
  ])('reports the first difference: %o', (other, expected) => {
    expect(() => compareContents(contents, { ...contents, ...other })).toThrow(expected);
  });

  it('accepts equal contents', () => {
    compareContents(contents, structuredClone(contents));
  });
});
