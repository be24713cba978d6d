import { Sql, sql } from './sql.ts';

/** Restricts a statement to the rows whose metadata passes. */
export interface RowFilter {
  /** Operand of `@@`, which an index on metadata can serve. A row for which it is false or null is treated as absent. */
  readonly jsonpath: string;
  /** True when every row passes: a search then omits the condition. */
  readonly isEverything: boolean;
}

/** For the server's own work, and for operations whose authorization was checked before. */
export const everyRow: RowFilter = { jsonpath: 'strict 1 == 1', isEverything: true };

/** SQL condition for the run `r`: its thread must pass; for a stateless run, its own metadata. */
export const runPasses = (parameter: string): string =>
  `case when r.temporary then r.metadata @@ ${parameter}::jsonpath
    else exists (select 1 from threads t where t.thread_id = r.thread_id and t.metadata @@ ${parameter}::jsonpath) end`;

/** The same for statements that are composed. */
export const passesAsRun = ({ isEverything, jsonpath }: RowFilter): Sql[] => {
  if (isEverything) return [];
  const parts = runPasses('$').split('$');
  return [
    new Sql(
      parts,
      parts.slice(1).map(() => jsonpath),
    ),
  ];
};

/** Condition for a search of a table with a `metadata` column. */
export const passes = ({ isEverything, jsonpath }: RowFilter): Sql[] =>
  isEverything ? [] : [sql`metadata @@ ${jsonpath}::jsonpath`];

/** Condition that metadata contains what the search names. */
export const containsMetadata = (metadata: object | undefined): Sql[] =>
  metadata === undefined || Object.keys(metadata).length === 0
    ? []
    : [sql`metadata @> ${JSON.stringify(metadata)}::jsonb`];
