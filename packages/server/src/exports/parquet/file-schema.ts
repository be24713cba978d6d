// The columns of a file. They follow from the fields and the version alone, whatever is in them, so that all files of an export are alike.
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
 * Times are microseconds, which all readers know: nanoseconds and UUIDs some do not. Those of `v1` are of no time zone (they are in UTC), those
 * of `v2_beta` say that they are in UTC.
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
