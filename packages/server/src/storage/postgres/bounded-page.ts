// Pages that are bounded in bytes. One statement finds the keys of a page first, then reads its rows one by one until their bytes
// exceed the bound. The database neither reads nor sends the rows beyond it.
import { type AnswerLimits, freeBytes, whileHeld } from './answer-limits.ts';
import { readStatement } from './statement.ts';
import type { Database } from './database.ts';
import { all, compile, raw, type Sql, sql } from './sql.ts';

export interface BoundedPage<Row> {
  rows: Row[];
  /** More rows follow. */
  hasMore: boolean;
  /** The page has fewer rows than requested, because more would exceed its bytes. */
  isCut: boolean;
}

export interface PageQuery {
  /** Selects the keys of the page and of one more row, in the order of the page. */
  keys: { text: string; values: readonly unknown[] };
  /** The order of the page, as an expression over the keys `k`. */
  order: string;
  /** The columns to read: names to expressions over the row `r`. */
  columns: Readonly<Record<string, string>>;
  /** Names of the columns that may be long: text, or JSON as text. */
  long: readonly string[];
  /** The table with the alias `r`, and the condition that finds the row of key `k`. */
  from: string;
  where: string;
  limit: number;
  answers: AnswerLimits;
}

/** Bytes counted for each row in addition to its long columns. */
const rowBytes = 512;

/** PostgreSQL knows the length of a text without reading its value. */
const sizeOf = (columns: readonly string[]): string =>
  [rowBytes, ...columns.map((column) => `coalesce(octet_length(c.${column}), 0)`)].join(' + ');

const pageStatement = ({ keys, order, columns, long, from, where }: PageQuery): string => {
  const limit = `$${keys.values.length + 1}`;
  const bytes = `$${keys.values.length + 2}`;
  const names = Object.keys(columns);
  const list = Object.entries(columns).map(([name, expression]) => `${expression} as ${name}`);
  // The limit keeps the planner from joining all rows of the table before the bound applies.
  const row = `cross join lateral (select c.*, (${sizeOf(long)})::bigint as row_bytes
    from (select ${list.join(', ')} from ${from} where ${where} limit 1) c) v`;
  return `with recursive keys as materialized (
      select k.*, row_number() over (order by ${order}) as page_n from (${keys.text}) k
    ), page as (
      select k.page_n, v.*, v.row_bytes as page_bytes from keys k ${row} where k.page_n = 1
      union all
      select k.page_n, v.*, p.page_bytes + v.row_bytes from page p join keys k on k.page_n = p.page_n + 1 ${row}
      where k.page_n <= ${limit} and p.page_bytes + v.row_bytes <= ${bytes}
    )
    select ${names.map((name) => `p.${name}`).join(', ')}, (select count(*)::integer from keys) as page_found
    from page p order by p.page_n`;
};

/**
 * Reads a page. A page that exceeds `freeBytes` is read again while memory is reserved for it.
 */
export const readPage = async <Row extends object>(
  db: Database,
  query: PageQuery,
): Promise<BoundedPage<Row>> => {
  const { answers } = query;
  const page = await readUpTo<Row>(db, query, Math.min(answers.pageBytes, freeBytes));
  if (!page.isCut || answers.pageBytes <= freeBytes) return page;
  return whileHeld(answers, answers.pageBytes, () => readUpTo(db, query, answers.pageBytes));
};

const readUpTo = async <Row extends object>(
  db: Database,
  query: PageQuery,
  bytesMax: number,
): Promise<BoundedPage<Row>> => {
  const values = [...query.keys.values, query.limit, bytesMax];
  const found = await db.query(readStatement<Row & { page_found?: number }>(pageStatement(query)), values);
  const count = found[0]?.page_found ?? 0;
  for (const row of found) delete row.page_found;
  return {
    rows: found,
    hasMore: count > found.length,
    isCut: found.length < Math.min(query.limit, count),
  };
};

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
