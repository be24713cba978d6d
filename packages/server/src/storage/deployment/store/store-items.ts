// The long-term store: values by namespace and key. A namespace is a list of labels. The index sorts by the bytes of the labels, so
// everything below a prefix is one range of it.
import type { Item } from '@svc/contract';
import { type AnswerLimits, defaultAnswerLimits } from '../../postgres/answer-limits.ts';
import { type BoundedPage, readPage } from '../../postgres/bounded-page.ts';
import type { Database } from '../../postgres/database.ts';
import { everyRow, type RowFilter } from '../../postgres/row-filter.ts';
import { assertStorableKey, storableText } from '../../postgres/storable.ts';
import { all, compile, raw, sql } from '../../postgres/sql.ts';
import { type ItemCondition, itemConditions, passing, present, seen } from './store-item-conditions.ts';
import { storeNamespaceStorage } from './store-namespaces.ts';
import { type ItemVectors, type RankedItem, vectorWrites } from './store-vectors.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

export type StoreItemRow = Item;

/** An item in a list: its value is JSON text. */
export type ListedItem = Omit<StoreItemRow, 'value'> & { value: string };

/** An item in a list, with its key and the selected columns. */
export type SelectedItem = ItemKey & Partial<ListedItem>;

/** An item with a flag whether the read must restart its time to live. Most reads need not. */
type ReadItem<T extends ItemKey = StoreItemRow> = T & { refresh_due: boolean };

export interface ItemKey {
  namespace: string[];
  key: string;
}

export interface ItemWrite extends ItemKey {
  /** Null removes the item. */
  value: Record<string, unknown> | null;
  /** Time to live in minutes; null for none. When absent, the deployment's default applies. */
  ttl?: number | null | undefined;
  /** What searches by meaning compare with; null for none. When absent, the store has no index. */
  vectors?: ItemVectors | null | undefined;
}

export interface ItemSearch extends ItemCondition {
  /** Whether the search restarts the time to live of its results. When absent, the deployment's default applies. */
  refresh?: boolean | undefined;
  limit: number;
  offset: number;
}

const columnNames = ['namespace', 'key', 'value', 'created_at', 'updated_at'] as const;

/** A read restarts the time to live only when a tenth of it has passed, to save writes. */
const refreshDue = (requested: string): string =>
  `case when ttl_minutes is null or expires_at > now() + make_interval(secs => ttl_minutes * 54) then false
    else coalesce(${requested}::boolean, items_refresh_on_read()) end`;

/** What a put does with an existing item. An expired one is treated as new. */
const replace = `do update set value = excluded.value, updated_at = clock_timestamp(), ttl_minutes = excluded.ttl_minutes,
  expires_at = excluded.expires_at,
  created_at = case when i.expires_at <= now() then excluded.created_at else i.created_at end`;
/** The given minutes, else the deployment's default; infinity means none. */
const minutes = (given: string): string => `nullif(coalesce(${given}, default_item_ttl()), 'infinity')`;
const expiry = (given: string): string => `now() + make_interval(secs => ${minutes(given)} * 60)`;

/** First key of advisory locks on batches, which separates them from other advisory locks. */
const batchLocks = 0x73746f72;

const insertItem = `insert into store_items as i (namespace, key, value, ttl_minutes, expires_at)
      values ($1, $2, $3, ${minutes('$4::float8')}, ${expiry('$4::float8')})
      on conflict (namespace, key) ${replace}
      where i.expires_at <= now() or ${seen('i.')} @@ $5::jsonpath`;

// A namespace is JSON text here, because an array parameter cannot hold lists of different lengths. No key may occur twice.
const givenItems = `with given as materialized (
        select array(select jsonb_array_elements_text(n::jsonb)) as namespace, key, value::jsonb as value, ttl, vectors, dims
        from unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::bytea[], $6::integer[])
          as g(n, key, value, ttl, vectors, dims)
      ), removed as (
        delete from store_items i using given g
        where g.value is null and i.namespace = g.namespace and i.key = g.key
      )`;
const insertItems = `insert into store_items as i (namespace, key, value, ttl_minutes, expires_at)
      select namespace, key, value, ${minutes('ttl')}, ${expiry('ttl')} from given where value is not null
      on conflict (namespace, key) ${replace}`;
const writtenItem = 'returning i.namespace, i.key, i.updated_at';

export const statements = {
  get: readStatement<ReadItem>(`select ${columnNames.join(', ')}, ${refreshDue('$3')} as refresh_due from store_items
      where namespace = $1 and key = $2 and ${present} and ${seen()} @@ $4::jsonpath`),
  put: statement(`${insertItem} returning key`),
  putIndexed: statement(`with given as materialized (
        select $1::text[] as namespace, $2::text as key, $6::bytea as vectors
      ), item as (${insertItem} ${writtenItem}
      ), ${vectorWrites('given', '$7::integer')}
      select key from item`),
  // Locks in a fixed order, and only rows that are not locked: the holder of a lock writes or refreshes the item anyway.
  refresh: statement(`with due as (
        select i.namespace, i.key from unnest($1::text[], $2::text[]) as g(n, key)
        join store_items i on i.namespace = array(select jsonb_array_elements_text(g.n::jsonb)) and i.key = g.key
        where i.expires_at > now() order by i.namespace, i.key for update of i skip locked
      )
      update store_items i set expires_at = now() + make_interval(secs => i.ttl_minutes * 60)
      from due where i.namespace = due.namespace and i.key = due.key`),
  delete: statement(
    `delete from store_items where namespace = $1 and key = $2 and ${seen()} @@ $3::jsonpath`,
  ),
  // Taken in a fixed order, so that overlapping batches wait for each other instead of deadlocking. Row locks would not do, because rows
  // that do not exist yet cannot be locked.
  lock: statement(`select pg_advisory_xact_lock(${batchLocks}, bucket) from (
        select distinct hashtext(namespace || key) & 63 as bucket
        from unnest($1::text[], $2::text[]) as g(namespace, key) order by bucket
      ) buckets`),
  write: statement(`${givenItems} ${insertItems}`),
  writeIndexed: statement(`${givenItems},
      item as (${insertItems} ${writtenItem}), ${vectorWrites('given', 'g.dims')}
      select count(*) from item`),
};

export type StoreItemStorage = ReturnType<typeof storeItemStorage>;

const listColumns = {
  namespace: 'r.namespace',
  key: 'r.key',
  value: 'r.value::text',
  created_at: 'r.created_at',
  updated_at: 'r.updated_at',
};

type ListOptions = Pick<ItemSearch, 'refresh'> & { select?: readonly string[] | undefined };

/** The selected columns, and the key, which identifies the items to refresh. */
const listed = ({ select, refresh }: ListOptions) => {
  const chosen = Object.entries(listColumns).filter(
    ([name]) => name === 'namespace' || name === 'key' || (select?.includes(name) ?? true),
  );
  return {
    columns: { ...Object.fromEntries(chosen), refresh_due: refreshDue(refreshSql(refresh)) },
    long: chosen.some(([name]) => name === 'value') ? ['value'] : [],
  };
};

/** Restarts the time to live of the items where that is due. */
const refreshed = async <T extends ItemKey>(
  db: Database,
  rows: ReadItem<T>[],
): Promise<Omit<ReadItem<T>, 'refresh_due'>[]> => {
  const due = rows.filter((row) => row.refresh_due);
  if (due.length > 0) {
    const namespaces = due.map(({ namespace }) => JSON.stringify(namespace));
    await db.query(statements.refresh, [namespaces, due.map(({ key }) => key)]);
  }
  return rows.map((row) => {
    const { refresh_due: _, ...item } = row;
    return item;
  });
};

const toStored = ({ namespace, key, value, ttl, vectors }: ItemWrite) => {
  if (value !== null) assertStorableKey({ namespace, key });
  return {
    namespace,
    key,
    value: value === null ? null : storableText(value),
    ttl: ttl === undefined ? null : (ttl ?? Infinity),
    vectors: vectors ? Buffer.from(vectors.bytes) : null,
    dims: vectors?.dims ?? null,
  };
};

const put = async (db: Database, write: ItemWrite, access: RowFilter): Promise<boolean> => {
  const { namespace, key, value, ttl, vectors, dims } = toStored(write);
  const values = [namespace, key, value, ttl, access.jsonpath];
  const stored =
    write.vectors === undefined
      ? await db.query(statements.put, values)
      : await db.query(statements.putIndexed, [...values, vectors, dims]);
  return stored.length > 0;
};

const refreshSql = (refresh: boolean | undefined): string =>
  refresh === undefined ? 'null' : String(refresh);

const searchPage = async <T extends SelectedItem>(
  db: Database,
  answers: AnswerLimits,
  { prefix, filter, refresh, limit, offset }: ItemSearch,
  access: RowFilter,
  select?: readonly string[],
): Promise<BoundedPage<Omit<ReadItem<T>, 'refresh_due'>>> => {
  const conditions = itemConditions({ prefix, filter }, access);
  const keys = sql`select updated_at, namespace, key from store_items where ${all(conditions)}
    order by updated_at desc, namespace, key limit ${limit + 1} offset ${offset}`;
  const { rows, ...more } = await readPage<ReadItem<T>>(db, {
    keys: compile(keys),
    order: 'k.updated_at desc, k.namespace, k.key',
    ...listed({ select, refresh }),
    from: 'store_items r',
    where: 'r.namespace = k.namespace and r.key = k.key',
    limit,
    answers,
  });
  return { rows: await refreshed(db, rows), ...more };
};

const rankedPage = async <T extends SelectedItem>(
  db: Database,
  answers: AnswerLimits,
  items: readonly RankedItem[],
  access: RowFilter,
  options: ListOptions = {},
): Promise<BoundedPage<Omit<ReadItem<T & { score: number }>, 'refresh_due'>>> => {
  const names = items.map(({ namespace }) => JSON.stringify(namespace));
  const { columns, long } = listed(options);
  const keys = sql`select i.namespace, i.key, g.score, g.n
    from unnest(${names}::text[], ${items.map(({ key }) => key)}::text[], ${items.map(({ score }) => score)}::float8[])
      with ordinality g(ns, k, score, n)
    cross join lateral (select namespace, key from store_items
      where namespace = array(select jsonb_array_elements_text(g.ns::jsonb)) and key = g.k
        and ${all([raw(present), ...passing(access)])} limit 1) i`;
  const { rows, ...more } = await readPage<ReadItem<T & { score: number }>>(db, {
    keys: compile(keys),
    order: 'k.n',
    columns: { ...columns, score: 'k.score' },
    long,
    from: 'store_items r',
    where: 'r.namespace = k.namespace and r.key = k.key',
    limit: items.length,
    answers,
  });
  return { rows: await refreshed(db, rows), ...more };
};

const searches = (db: Database, answers: AnswerLimits) => ({
  /** Newest update first. */
  search: (search: ItemSearch, access: RowFilter): Promise<BoundedPage<ListedItem>> =>
    searchPage<ListedItem>(db, answers, search, access),

  /** Newest update first. `select`: the columns to read; all when absent. */
  searchSelected: (
    search: ItemSearch,
    access: RowFilter,
    select: readonly string[] | undefined,
  ): Promise<BoundedPage<SelectedItem>> => searchPage<SelectedItem>(db, answers, search, access, select),

  /** The items of a ranking that still pass the filter, in its order. */
  listRanked: (
    items: readonly RankedItem[],
    access: RowFilter,
  ): Promise<BoundedPage<ListedItem & { score: number }>> =>
    rankedPage<ListedItem>(db, answers, items, access),

  /** Like `listRanked`. `select`: the columns to read; all when absent. */
  listRankedSelected: (
    items: readonly RankedItem[],
    access: RowFilter,
    options: ListOptions,
  ): Promise<BoundedPage<SelectedItem & { score: number }>> =>
    rankedPage<SelectedItem>(db, answers, items, access, options),
});

export const storeItemStorage = (db: Database, answers = defaultAnswerLimits) => ({
  ...searches(db, answers),
  ...storeNamespaceStorage(db),

  /** `refresh`: whether the read restarts the time to live; when absent, the deployment's default applies. */
  async find(
    { namespace, key }: ItemKey,
    access: RowFilter,
    refresh?: boolean,
  ): Promise<StoreItemRow | undefined> {
    const values = [namespace, key, refresh ?? null, access.jsonpath];
    const rows = await db.query(statements.get, values);
    return (await refreshed(db, rows))[0];
  },

  /** False when an existing item does not pass the filter. Throws when the key or the value cannot be stored. */
  put: (write: ItemWrite, access: RowFilter): Promise<boolean> => put(db, write, access),

  async delete({ namespace, key }: ItemKey, access: RowFilter): Promise<void> {
    await db.query(statements.delete, [namespace, key, access.jsonpath]);
  },

  /** Writes of a graph: all or none. No key may occur twice. Throws when a key or a value cannot be stored. */
  async write(writes: ItemWrite[]): Promise<void> {
    const [only, ...others] = writes;
    if (!only) return;
    if (others.length === 0) {
      if (only.value !== null) await put(db, only, everyRow);
      else await db.query(statements.delete, [only.namespace, only.key, everyRow.jsonpath]);
      return;
    }
    const items = writes.map(toStored);
    const values = [
      items.map(({ namespace }) => JSON.stringify(namespace)),
      items.map(({ key }) => key),
      items.map(({ value }) => value),
      items.map(({ ttl }) => ttl),
      items.map(({ vectors }) => vectors),
      items.map(({ dims }) => dims),
    ];
    const isIndexed = writes.some(({ vectors }) => vectors !== undefined);
    await db.transact(async (tx) => {
      await tx.query(statements.lock, values.slice(0, 2));
      await tx.query(isIndexed ? statements.writeIndexed : statements.write, values);
    });
  },
});
