// Reads a Parquet file with DuckDB.
import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUUIDValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import {
  asColumns,
  asDate,
  asDecimal,
  asInteger,
  asTimestamp,
  type ListedElement,
  type ParquetContents,
  type Value,
} from './parquet-contents.ts';

type Row = Record<string, DuckDBValue>;

export const readWithDuckDB = async (file: string): Promise<ParquetContents> => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    const query = async (sql: string): Promise<Row[]> =>
      (await connection.runAndReadAll(sql, [file])).getRowObjects();
    const rows = await query('select * from read_parquet($1)');
    const schema = await query('select * from parquet_schema($1)');
    const groups = await query(
      `select row_group_id, any_value(row_group_num_rows) as rows, any_value(row_group_bytes) as bytes
       from parquet_metadata($1) group by row_group_id order by row_group_id`,
    );
    const codecs = await query('select distinct compression from parquet_metadata($1) order by 1');
    return {
      rows: rows.map((row) => asObject(row)),
      columns: asColumns(schema.map(asElement)),
      rowGroups: groups.map(({ rows: count, bytes }) => ({ rows: Number(count), bytes: Number(bytes) })),
      codecs: codecs.map(({ compression }) => String(compression)),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};

const textOrNull = (value: DuckDBValue | undefined): string | null =>
  typeof value === 'string' ? value : null;

const asElement = (row: Row): ListedElement => ({
  name: String(row['name']),
  children: Number(row['num_children'] ?? 0),
  physical: textOrNull(row['type']),
  repetition: textOrNull(row['repetition_type']),
  logical: asLogical(textOrNull(row['logical_type'])),
  converted: textOrNull(row['converted_type']),
});

/** Parses the text of a Thrift value: `TimestampType(isAdjustedToUTC=1, unit=TimeUnit(MILLIS=<null>, MICROS=MicroSeconds(), …))`. */
const asLogical = (printed: string | null): string | null => {
  const [, name, fields = ''] = /^(\w+)Type\((.*)\)$/.exec(printed ?? '') ?? [];
  if (!name) return printed;
  const field = (of: string): string => new RegExp(`\\b${of}=(\\w+)`).exec(fields)?.[1] ?? '';
  const kind = name === 'Int' ? 'INTEGER' : name.toUpperCase();
  switch (kind) {
    case 'TIMESTAMP':
    case 'TIME':
      return `${kind}(${field('MILLIS') ? 'MILLIS' : field('MICROS') ? 'MICROS' : 'NANOS'},${field('isAdjustedToUTC') === '1'})`;
    case 'DECIMAL':
      return `DECIMAL(${field('precision')},${field('scale')})`;
    case 'INTEGER':
      return `INTEGER(${field('bitWidth')},${field('isSigned') === '1'})`;
    default:
      return kind;
  }
};

const asObject = (fields: Readonly<Record<string, DuckDBValue>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, asValue(value)]));

const asValue = (value: DuckDBValue): Value => {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return asInteger(value);
  if (value instanceof DuckDBDecimalValue) return asDecimal(value.value, value.scale);
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return asTimestamp(value.micros * 1_000n);
  if (value instanceof DuckDBTimestampMillisecondsValue) return asTimestamp(value.millis * 1_000_000n);
  if (value instanceof DuckDBTimestampNanosecondsValue) return asTimestamp(value.nanos);
  if (value instanceof DuckDBDateValue) return asDate(value.days);
  if (value instanceof DuckDBUUIDValue) return value.toString();
  if (value instanceof DuckDBBlobValue) return new Uint8Array(value.bytes);
  if (value instanceof DuckDBListValue) return value.items.map(asValue);
  if (value instanceof DuckDBStructValue) return asObject(value.entries);
  if (value instanceof DuckDBMapValue)
    return Object.fromEntries(value.entries.map((entry) => [String(entry.key), asValue(entry.value)]));
  throw new Error(`No way to compare ${value?.constructor.name} yet`);
};
