// Reads a Parquet file with hyparquet, which shares no code with DuckDB.
import {
  parquetMetadataAsync,
  parquetReadObjects,
  type AsyncBuffer,
  type FileMetaData,
  type SchemaElement,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
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

export const readWithHyparquet = async (bytes: Uint8Array): Promise<ParquetContents> => {
  const file: AsyncBuffer = {
    byteLength: bytes.length,
    slice: (start, end) => new Uint8Array(bytes.subarray(start, end)).buffer,
  };
  const metadata = await parquetMetadataAsync(file);
  const decimals = decimalScales(metadata.schema);
  const rows = await parquetReadObjects({
    file,
    metadata: withoutDecimals(metadata),
    compressors,
    utf8: false,
    parsers: {
      timestampFromMilliseconds: (millis) => asTimestamp(millis * 1_000_000n),
      timestampFromMicroseconds: (micros) => asTimestamp(micros * 1_000n),
      timestampFromNanoseconds: asTimestamp,
      dateFromDays: asDate,
      jsonFromBytes: (text: Uint8Array | undefined) => text && Buffer.from(text).toString(),
    },
  });
  const codecs = metadata.row_groups.flatMap(({ columns }) => columns.map((each) => each.meta_data?.codec));
  return {
    rows: rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]: [string, unknown]) => {
          const scale = decimals.get(name);
          return [name, scale === undefined ? asValue(value) : asDecimalOrNull(value, scale)];
        }),
      ),
    ),
    columns: asColumns(metadata.schema.map(asElement)),
    rowGroups: metadata.row_groups.map(({ num_rows, total_byte_size }) => ({
      rows: Number(num_rows),
      bytes: Number(total_byte_size),
    })),
    codecs: [...new Set(codecs.filter((codec) => codec !== undefined))].toSorted(),
  };
};

/** hyparquet converts decimals to floats; without the decimal type it returns the stored integers. */
const withoutDecimals = (metadata: FileMetaData): FileMetaData => ({
  ...metadata,
  schema: metadata.schema.map(({ converted_type, logical_type, ...element }) => {
    if (converted_type === 'DECIMAL') return element;
    return {
      ...element,
      ...(converted_type ? { converted_type } : {}),
      ...(logical_type ? { logical_type } : {}),
    };
  }),
});

const decimalScales = (schema: readonly SchemaElement[]): Map<string, number> => {
  const columns = new Set(asColumns(schema.map(asElement)).map(({ path }) => path));
  const found = new Map<string, number>();
  for (const { name, converted_type, scale = 0 } of schema) {
    if (converted_type !== 'DECIMAL') continue;
    if (!columns.has(name))
      throw new Error(`No way to compare the decimal ${name} inside of another column yet`);
    found.set(name, scale);
  }
  return found;
};

const asDecimalOrNull = (value: unknown, scale: number): string | null => {
  if (value === null || value === undefined) return null;
  if (!(value instanceof Uint8Array)) return asDecimal(BigInt(value as number | bigint), scale);
  const unsigned = BigInt(`0x${Buffer.from(value).toString('hex')}`);
  return asDecimal(BigInt.asIntN(value.length * 8, unsigned), scale);
};

const asElement = ({
  name,
  num_children,
  type,
  repetition_type,
  ...element
}: SchemaElement): ListedElement => ({
  name,
  children: num_children ?? 0,
  physical: type ?? null,
  repetition: repetition_type ?? null,
  logical: asLogical(element),
  converted: element.converted_type ?? null,
});

const asLogical = ({ logical_type: logical }: Pick<SchemaElement, 'logical_type'>): string | null => {
  if (!logical) return null;
  if (logical.type === 'TIMESTAMP' || logical.type === 'TIME')
    return `${logical.type}(${logical.unit},${logical.isAdjustedToUTC})`;
  if (logical.type === 'DECIMAL') return `DECIMAL(${logical.precision},${logical.scale})`;
  if (logical.type === 'INTEGER') return `INTEGER(${logical.bitWidth},${logical.isSigned})`;
  return logical.type;
};

const asValue = (value: unknown): Value => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return asInteger(value);
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(asValue);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, asValue(field)]));
};
