// The long-term store: values by namespace and key. A namespace is a list of labels, and everything below a
// prefix lies together in the index, in the order of the labels' bytes.
import { sql, type Expression, type SqlBool } from 'kysely';
import { invalid } from '@svc/contract/problem';
import type { Database } from './database.ts';
import type { StoreItemTable } from './tables.ts';

export type StoreItemRow = StoreItemTable;

export interface ItemKey {
  namespace: string[];
  key: string;
}

export interface ItemSearch {
  prefix: string[];
  /** Key to the value it equals, or to operators: $eq, $ne, $gt, $gte, $lt, $lte. */
  filter?: Record<string, unknown> | undefined;
  limit: number;
  offset: number;
}

export interface NamespaceSearch {
  /** `*` stands for any one label. */
  prefix?: string[] | undefined;
  suffix?: string[] | undefined;
  max_depth?: number | undefined;
  limit: number;
  offset: number;
}

const columns = 'namespace, key, value, created_at, updated_at';

const statements = {
  get: { name: 'items_get', text: `select ${columns} from store_items where namespace = $1 and key = $2` },
  put: {
    name: 'items_put',
    text: `insert into store_items (namespace, key, value) values ($1, $2, $3)
      on conflict (namespace, key) do update set value = excluded.value, updated_at = clock_timestamp()`,
  },
  delete: { name: 'items_delete', text: 'delete from store_items where namespace = $1 and key = $2' },
};

export type StoreItemStorage = ReturnType<typeof storeItemStorage>;

/**
 * Everything whose namespace begins with these labels, as a range of the index: a label's successor in byte
 * order is itself with the lowest character behind it.
 */
const below = (prefix: string[]): Expression<SqlBool>[] => {
  const last = prefix.at(-1);
  if (last === undefined) return [];
  const end = [...prefix.slice(0, -1), `${last}\u0001`];
  return [sql<SqlBool>`namespace >= ${prefix}::text[]`, sql<SqlBool>`namespace < ${end}::text[]`];
};

const comparisons: Record<
  string,
  (field: Expression<unknown>, value: Expression<unknown>) => Expression<SqlBool>
> = {
  $eq: (field, value) => sql`${field} = ${value}`,
  $ne: (field, value) => sql`${field} is distinct from ${value}`,
  $gt: (field, value) => sql`${field} > ${value}`,
  $gte: (field, value) => sql`${field} >= ${value}`,
  $lt: (field, value) => sql`${field} < ${value}`,
  $lte: (field, value) => sql`${field} <= ${value}`,
};

const isOperators = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.keys(value).some((key) => key.startsWith('$'));

const jsonb = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;

/** Order is only defined among values of one kind: a number is never greater than a text. */
const sameKind = (field: Expression<unknown>, value: Expression<unknown>): Expression<SqlBool> =>
  sql`jsonb_typeof(${field}) = jsonb_typeof(${value})`;

const condition = (key: string, wanted: unknown): Expression<SqlBool>[] => {
  const field = sql`value -> ${key}`;
  if (!isOperators(wanted)) return [sql<SqlBool>`${field} = ${jsonb(wanted)}`];
  return Object.entries(wanted).flatMap(([operator, operand]) => {
    const compare = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined;
    if (!compare) {
      const known = Object.keys(comparisons).join(', ');
      throw invalid(['body', 'filter', key, operator], `${operator} is no operator; there are ${known}`);
    }
    const compared = compare(field, jsonb(operand));
    return operator === '$eq' || operator === '$ne'
      ? [compared]
      : [sameKind(field, jsonb(operand)), compared];
  });
};

/** `*` matches any label; the positions count from the front, or from the back for a suffix. */
const matching = (labels: string[], from: 'front' | 'back'): Expression<SqlBool>[] => [
  sql<SqlBool>`cardinality(namespace) >= ${labels.length}`,
  ...labels.flatMap((label, index) => {
    if (label === '*') return [];
    const position =
      from === 'front'
        ? sql`${index + 1}::int`
        : sql`cardinality(namespace) - ${labels.length - index - 1}::int`;
    return [sql<SqlBool>`namespace[${position}] = ${label}`];
  }),
];

export const storeItemStorage = (db: Database) => ({
  async find({ namespace, key }: ItemKey): Promise<StoreItemRow | undefined> {
    return (await db.query<StoreItemRow>(statements.get, [namespace, key]))[0];
  },

  async put({ namespace, key }: ItemKey, value: Record<string, unknown>): Promise<void> {
    await db.query(statements.put, [namespace, key, JSON.stringify(value)]);
  },

  async delete({ namespace, key }: ItemKey): Promise<void> {
    await db.query(statements.delete, [namespace, key]);
  },

  /** Newest update first. */
  search({ prefix, filter = {}, limit, offset }: ItemSearch): Promise<StoreItemRow[]> {
    const conditions = [
      ...below(prefix),
      ...Object.entries(filter).flatMap(([key, wanted]) => condition(key, wanted)),
    ];
    return db.kysely
      .selectFrom('store_items')
      .selectAll()
      .where((eb) => eb.and(conditions))
      .orderBy('updated_at', 'desc')
      .orderBy('namespace')
      .orderBy('key')
      .limit(limit)
      .offset(offset)
      .execute();
  },

  async listNamespaces({
    prefix = [],
    suffix = [],
    max_depth,
    limit,
    offset,
  }: NamespaceSearch): Promise<string[][]> {
    const wildcard = prefix.indexOf('*');
    const fixed = wildcard === -1 ? prefix : prefix.slice(0, wildcard);
    const conditions = [
      ...below(fixed),
      ...(wildcard === -1 ? [] : matching(prefix, 'front')),
      ...(suffix.length === 0 ? [] : matching(suffix, 'back')),
    ];
    const namespace =
      max_depth === undefined ? sql<string[]>`namespace` : sql<string[]>`namespace[1:${max_depth}::int]`;
    const rows = await db.kysely
      .selectFrom('store_items')
      .select(namespace.as('labels'))
      .distinct()
      .where((eb) => eb.and(conditions))
      .orderBy('labels')
      .limit(limit)
      .offset(offset)
      .execute();
    return rows.map((row) => row.labels);
  },
});
