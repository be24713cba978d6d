// The columns of a file. They depend only on the fields and the format version, not on the rows, so all files of an export have one schema.
import {
  type DuckDBType,
  BIGINT,
  BOOLEAN,
  DOUBLE,
  LIST,
  TIMESTAMP,
  TIMESTAMPTZ,
  VARCHAR,
} from '@duckdb/node-api';
import type { ExportField, FormatVersion } from '@svc/contract';
import { type ColumnKind, exportColumns } from '../../storage/exports/export-columns.ts';

export interface FileColumn {
  name: ExportField;
  kind: ColumnKind;
  type: DuckDBType;
  isList: boolean;
}

/**
 * Times have microseconds and ids are strings, because some readers support neither nanoseconds nor UUIDs. Times are in UTC: in `v1`
 * with a type without time zone, in `v2_beta` with one that is marked as UTC.
 */
const typeOf = (kind: ColumnKind, version: FormatVersion): DuckDBType => {
  switch (kind) {
    case 'time':
      return version === 'v1' ? TIMESTAMP : TIMESTAMPTZ;
    case 'int':
      return BIGINT;
    case 'float':
      return DOUBLE;
    case 'bool':
      return BOOLEAN;
    case 'tags':
    case 'path':
      return version === 'v1' ? VARCHAR : LIST(VARCHAR);
    case 'text':
    case 'payload':
    case 'exact':
    case 'json':
    case 'extra':
    case 'metadata':
      return VARCHAR;
  }
};

export const fileColumns = (fields: readonly ExportField[], version: FormatVersion): FileColumn[] =>
  fields.map((name) => {
    const { kind } = exportColumns[name];
    return {
      name,
      kind,
      type: typeOf(kind, version),
      isList: version !== 'v1' && (kind === 'tags' || kind === 'path'),
    };
  });
