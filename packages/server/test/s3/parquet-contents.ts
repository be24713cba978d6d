// The contents of a Parquet file, in a form that does not depend on the reader.

/**
 * Integers are numbers, beyond 2^53 bigints; decimals are text with all their digits; times are ISO 8601 with microseconds, or nanoseconds
 * where there are any, as if in UTC (the schema tells whether they are); dates are ISO 8601; JSON is text; a map is an object; a missing
 * value is null.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Value[]
  | { readonly [name: string]: Value };

export interface ParquetColumn {
  /** The path of a leaf or a group: `tags`, `tags.list`, `tags.list.element`. */
  readonly path: string;
  /** INT64, BYTE_ARRAY …; null for a group. */
  readonly physical: string | null;
  /** STRING, TIMESTAMP(MICROS,true), DECIMAL(38,12), INTEGER(64,true), LIST …; null when there is none. */
  readonly logical: string | null;
  readonly repetition: 'REQUIRED' | 'OPTIONAL' | 'REPEATED';
}

export interface RowGroupSize {
  readonly rows: number;
  /** Before compression. */
  readonly bytes: number;
}

export interface ParquetContents {
  readonly rows: readonly Record<string, Value>[];
  readonly columns: readonly ParquetColumn[];
  readonly rowGroups: readonly RowGroupSize[];
  /** All codecs of the file: ZSTD, SNAPPY …. */
  readonly codecs: readonly string[];
}

/** An element of the schema in the order of the file: depth first, each with the number of its children. */
export interface ListedElement {
  readonly name: string;
  readonly children: number;
  readonly physical: string | null;
  readonly repetition: string | null;
  /** In the form of `ParquetColumn`, when the file has one. */
  readonly logical: string | null;
  /** The older annotation, which some writers use alone. */
  readonly converted: string | null;
}

/** Skips the first element, the root, which is not a column. */
export const asColumns = (elements: readonly ListedElement[]): ParquetColumn[] => {
  const columns: ParquetColumn[] = [];
  const rest = elements.values();
  const descend = (count: number, parents: readonly string[]): void => {
    for (let left = count; left > 0; left -= 1) {
      const { value: element } = rest.next();
      if (!element) throw new Error('The schema ends before its last column');
      const path = [...parents, element.name];
      columns.push({
        path: path.join('.'),
        physical: element.physical,
        logical: element.logical ?? asLogical(element.converted),
        repetition: (element.repetition ?? 'REQUIRED') as ParquetColumn['repetition'],
      });
      descend(element.children, path);
    }
  };
  descend(rest.next().value?.children ?? 0, []);
  return columns;
};

const renamed: Readonly<Record<string, string>> = {
  UTF8: 'STRING',
  TIMESTAMP_MILLIS: 'TIMESTAMP(MILLIS,true)',
  TIMESTAMP_MICROS: 'TIMESTAMP(MICROS,true)',
  TIME_MILLIS: 'TIME(MILLIS,true)',
  TIME_MICROS: 'TIME(MICROS,true)',
};

const asLogical = (converted: string | null): string | null => {
  if (converted === null) return null;
  const [, sign, width] = /^(U?)INT_(\d+)$/.exec(converted) ?? [];
  return width ? `INTEGER(${width},${sign === ''})` : (renamed[converted] ?? converted);
};

export const asInteger = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** Nanoseconds since 1970. */
export const asTimestamp = (nanos: bigint): string => {
  const millis = (nanos - (((nanos % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n;
  const rest = String(nanos - millis * 1_000_000n).padStart(6, '0');
  const digits = rest.endsWith('000') ? rest.slice(0, 3) : rest;
  return new Date(Number(millis)).toISOString().replace('Z', `${digits}Z`);
};

/** Days since 1970. */
export const asDate = (days: number): string => new Date(days * 86_400_000).toISOString().slice(0, 10);

/** `unscaled` / 10^scale, with all its digits. */
export const asDecimal = (unscaled: bigint, scale: number): string => {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${unscaled < 0n ? '-' : ''}${whole}${scale > 0 ? `.${digits.slice(-scale)}` : ''}`;
};
