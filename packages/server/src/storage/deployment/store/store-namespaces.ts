// The namespaces of the long-term store.
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { all, raw, select, type Sql, sql } from '../../postgres/sql.ts';
import { labelsMax } from '../../postgres/storable.ts';
import { below, passing, present } from './store-item-conditions.ts';

export interface NamespaceMatch {
  at: 'front' | 'back';
  /** `*` stands for any one label. */
  labels: string[];
}

export interface NamespaceSearch {
  /** All of them must match. */
  matches: NamespaceMatch[];
  max_depth?: number | undefined;
  limit: number;
  offset: number;
}

/** The labels before the first `*` of a prefix match, which the index can find. */
const fixed = ({ at, labels }: NamespaceMatch): string[] => {
  if (at === 'back') return [];
  const wildcard = labels.indexOf('*');
  return wildcard === -1 ? labels : labels.slice(0, wildcard);
};

/** The conditions that the index cannot serve. `*` matches any label; positions count from the front or from the back. */
const matching = ({ at, labels }: NamespaceMatch): Sql[] => {
  if (at === 'front' && !labels.includes('*')) return [];
  return [
    sql`cardinality(labels) >= ${labels.length}`,
    ...labels.flatMap((label, index) => {
      if (label === '*') return [];
      const position =
        at === 'front'
          ? sql`${index + 1}::int`
          : sql`cardinality(labels) - ${labels.length - index - 1}::int`;
      return [sql`labels[${position}] = ${label}`];
    }),
  ];
};

/**
 * The distinct namespaces, truncated to `depth` labels, in order. A loose index scan: one index lookup per namespace, which skips all
 * items between. So the cost does not depend on the number of items.
 */
const walk = (range: Sql[], depth: number) => sql`
  with recursive walk as (
    (select namespace[1:${depth}::int] as labels from store_items
      where ${raw(present)} and ${all(range)} order by namespace limit 1)
    union all
    select next.labels from walk, lateral (
      select namespace[1:${depth}::int] as labels from store_items
      where namespace >= case when cardinality(walk.labels) < ${depth}::int then walk.labels || ''::text
          else walk.labels[1:${depth}::int - 1] || (walk.labels[${depth}::int] || chr(1)) end
        and ${raw(present)} and ${all(range)}
      order by namespace limit 1
    ) next
  )`;

export const storeNamespaceStorage = (db: Database) => ({
  /** In byte order of their labels. */
  async listNamespaces(
    { matches, max_depth, limit, offset }: NamespaceSearch,
    access: RowFilter,
  ): Promise<string[][]> {
    const range = [...matches.flatMap((match) => below(fixed(match))), ...passing(access)];
    const filters = matches.flatMap(matching);
    const depth = max_depth ?? labelsMax;
    // The filters apply to all labels of a namespace; then it is truncated.
    const namespaces =
      filters.length === 0
        ? sql`${walk(range, depth)} select labels from walk`
        : sql`${walk(range, labelsMax)}
            select distinct labels[1:${depth}::int] as labels from walk where ${all(filters)} order by labels`;
    const rows = await select<{ labels: string[] }>(db, sql`${namespaces} limit ${limit} offset ${offset}`);
    return rows.map((row) => row.labels);
  },
});
