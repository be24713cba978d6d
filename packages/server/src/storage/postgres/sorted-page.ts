// Pages of a table, sorted by a column that the request names, then by id.
import { readPage, type BoundedPage, type PageQuery } from './bounded-page.ts';
import type { Database } from './database.ts';
import { all, compile, raw, type Sql, sql } from './sql.ts';

export interface SortedPage {
  /** A column of the table. */
  sort_by: string;
  sort_order: 'asc' | 'desc';
  limit: number;
  offset: number;
  /** The page begins behind this place in its order. */
  after?: SortedPlace | undefined;
}

/** The sort column of a row, as text, and the row's id. Times have microseconds. */
export interface SortedPlace {
  value: string;
  id: string;
}

interface SortedTable {
  table: string;
  /** The column of ids. */
  id: string;
  conditions: readonly Sql[];
}

/** PostgreSQL gives the texts of the place the types of the columns. */
const isBehind = (id: string, { sort_by, sort_order, after }: SortedPage): Sql[] => {
  if (after === undefined) return [];
  const columns = raw(`(${sort_by}, ${id})`);
  return [sql`${columns} ${raw(sort_order === 'desc' ? '<' : '>')} (${after.value}, ${after.id})`];
};

/** Selects the ids of a page, and the sort column. */
export const sortedIds = ({ table, id, conditions }: SortedTable, page: SortedPage): Sql => {
  const { sort_by, sort_order, limit, offset } = page;
  return sql`select ${raw([...new Set([id, sort_by])].join(', '))} from ${raw(table)} where ${all([...conditions, ...isBehind(id, page)])}
  order by ${raw(`${sort_by} ${sort_order}, ${id} ${sort_order}`)} limit ${limit} offset ${offset}`;
};

/** Reads a page that is bounded in bytes. */
export const readSortedPage = <Row extends object>(
  db: Database,
  table: SortedTable,
  page: SortedPage,
  shown: Pick<PageQuery, 'columns' | 'long' | 'answers'>,
): Promise<BoundedPage<Row>> => {
  const { id } = table;
  const { sort_by, sort_order, limit } = page;
  return readPage<Row>(db, {
    keys: compile(sortedIds(table, { ...page, limit: limit + 1 })),
    order: `k.${sort_by} ${sort_order}, k.${id} ${sort_order}`,
    ...shown,
    from: `${table.table} r`,
    where: `r.${id} = k.${id}`,
    limit,
  });
};
