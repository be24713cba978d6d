import { type Sql, sql } from './sql.ts';

/** Which rows a statement may see or touch, by their metadata. */
export interface RowFilter {
  /** For the operator `@@`, which an index on metadata serves; what it does not call true is not there. */
  readonly jsonpath: string;
  /** True for every row: a search then needs no condition. */
  readonly isEverything: boolean;
}

/** For what the server does of its own accord, and where the caller's right was checked a moment ago. */
export const everyRow: RowFilter = { jsonpath: 'strict 1 == 1', isEverything: true };

/** SQL that says whether the run `r` may be seen: as its thread may be; without one its own metadata says it. */
export const runPasses = (parameter: string): string =>
  `case when r.temporary then r.metadata @@ ${parameter}::jsonpath
    else exists (select 1 from threads t where t.thread_id = r.thread_id and t.metadata @@ ${parameter}::jsonpath) end`;

/** For searches of a table with a column `metadata`. */
export const passes = ({ isEverything, jsonpath }: RowFilter): Sql[] =>
  isEverything ? [] : [sql`metadata @@ ${jsonpath}::jsonpath`];

/** What a search names must be in the metadata. */
export const containsMetadata = (metadata: object | undefined): Sql[] =>
  metadata === undefined || Object.keys(metadata).length === 0
    ? []
    : [sql`metadata @> ${JSON.stringify(metadata)}::jsonb`];
