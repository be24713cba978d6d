// Pages that are bounded in bytes. The keys of a page are found first, then its rows are read one after the other until their
// bytes exceed the bound: what is beyond it is neither read nor sent by the database.
import { type AnswerLimits, freeBytes, whileHeld } from './answer-limits.ts';
import type { Database } from './database.ts';
import { nameOf } from './sql.ts';

export interface BoundedPage<Row> {
  rows: Row[];
  /** More rows follow. */
  hasMore: boolean;
  /** The page has fewer rows than asked for, since more would exceed its bytes. */
  isCut: boolean;
}

export interface PageQuery {
  /** Selects the keys of one row more than the page has, in the order of the page. */
  keys: { text: string; values: readonly unknown[] };
  /** The same order, of keys `k`. */
  order: string;
  /** What is read of a row: names to expressions of `r`. */
  columns: Readonly<Record<string, string>>;
  /** Names of the columns that may be long: texts, or JSON as text. */
  long: readonly string[];
  /** The table with the alias `r`, and the condition that finds the row of key `k`. */
  from: string;
  where: string;
  limit: number;
  answers: AnswerLimits;
}

/** Bytes that a row takes beside its long columns. */
const rowBytes = 512;

/** Of texts the length is known without reading them. */
const sizeOf = (columns: readonly string[]): string =>
  [rowBytes, ...columns.map((column) => `coalesce(octet_length(c.${column}), 0)`)].join(' + ');

const pageStatement = ({ keys, order, columns, long, from, where }: PageQuery): string => {
  const limit = `$${keys.values.length + 1}`;
  const bytes = `$${keys.values.length + 2}`;
  const names = Object.keys(columns);
  const list = Object.entries(columns).map(([name, expression]) => `${expression} as ${name}`);
  // With a limit: joined as tables, they might all be read at once.
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
 * Reads the page; a large one is read again while memory is held for it. `name` is that of a prepared statement; without one it is made of
 * the text.
 */
export const readPage = async <Row extends object>(
  db: Database,
  query: PageQuery,
  name?: string,
): Promise<BoundedPage<Row>> => {
  const { answers } = query;
  const page = await readUpTo<Row>(db, query, Math.min(answers.pageBytes, freeBytes), name);
  if (!page.isCut || answers.pageBytes <= freeBytes) return page;
  return whileHeld(answers, answers.pageBytes, () => readUpTo(db, query, answers.pageBytes, name));
};

const readUpTo = async <Row extends object>(
  db: Database,
  query: PageQuery,
  bytesMax: number,
  name: string | undefined,
): Promise<BoundedPage<Row>> => {
  const text = pageStatement(query);
  const statement = { name: name ?? nameOf(text), text, reads: true };
  const values = [...query.keys.values, query.limit, bytesMax];
  const found = await db.query<Row & { page_found?: number }>(statement, values);
  const count = found[0]?.page_found ?? 0;
  for (const row of found) delete row.page_found;
  return {
    rows: found,
    hasMore: count > found.length,
    isCut: found.length < Math.min(query.limit, count),
  };
};
