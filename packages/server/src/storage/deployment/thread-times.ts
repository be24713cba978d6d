// Searches of threads by time. Each of the columns has an index that begins with it.
import { raw, type Sql, sql } from '../postgres/sql.ts';

const columns = [
  { column: 'created_at', from: 'created_after', before: 'created_before' },
  { column: 'updated_at', from: 'updated_after', before: 'updated_before' },
  { column: 'state_updated_at', from: 'state_updated_after', before: 'state_updated_before' },
] as const;

type TimeField = (typeof columns)[number]['from' | 'before'];

/** Times from `…_after` on, and before `…_before`. */
export type ThreadTimes = { [Name in TimeField]?: string | undefined };

/** The parameters have the type of the column: with another type, no index is used under row level security. */
export const withinTimes = (times: ThreadTimes): Sql[] =>
  columns.flatMap(({ column, from, before }) => {
    const [first, end] = [times[from], times[before]];
    return [
      ...(first === undefined ? [] : [sql`${raw(column)} >= ${first}::timestamptz`]),
      ...(end === undefined ? [] : [sql`${raw(column)} < ${end}::timestamptz`]),
    ];
  });
