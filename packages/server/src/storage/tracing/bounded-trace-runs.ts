// Reads of trace runs that are bounded in bytes: PostgreSQL does not send rows whose payloads would exceed the bound.
import type { Database } from '../postgres/database.ts';
import type { Statement } from '../postgres/statement.ts';
import { payloadBytes, type PayloadColumn, traceRunColumns, type TraceRunRow } from './trace-row.ts';

export interface TraceRunPage {
  rows: TraceRunRow[];
  /** Bytes of the payloads of these rows. */
  bytes: number;
  /** More rows follow, whose payloads would exceed the bound. */
  isCut: boolean;
}

export interface BoundedTraceRuns {
  /** A query that selects trace runs. */
  runs: string;
  /** The order, as an expression over `r`. */
  order: string;
  columns: ReadonlySet<PayloadColumn> | null;
  /** The placeholder of the parameter that bounds the bytes. */
  bytesMax: string;
}

/** Selects the first trace runs whose payloads together have at most `bytesMax` bytes, and always the first one. */
export const boundedSql = ({ runs, order, columns, bytesMax }: BoundedTraceRuns): string =>
  `select ${traceRunColumns(columns)}, r.page_bytes, r.page_found from (
      select r.*, row_number() over w as page_n, sum(${payloadBytes(columns)}) over w as page_bytes, count(*) over () as page_found
      from (${runs}) r window w as (order by ${order})) r
    where r.page_n = 1 or r.page_bytes <= ${bytesMax} order by r.page_n`;

export type FoundTraceRun = TraceRunRow & { page_bytes?: number; page_found?: number };

/** Executes a statement that `boundedSql` has built. */
export const readRuns = async (
  tx: Database,
  statement: Statement<FoundTraceRun>,
  values: unknown[],
): Promise<TraceRunPage> => {
  const rows = await tx.query(statement, values);
  const bytes = rows.at(-1)?.page_bytes ?? 0;
  const isCut = rows.length < (rows[0]?.page_found ?? 0);
  for (const row of rows) {
    delete row.page_bytes;
    delete row.page_found;
  }
  return { rows, bytes, isCut };
};
