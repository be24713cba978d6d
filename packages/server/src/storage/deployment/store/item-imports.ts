// Items of the store of another server. An item that exists is not changed.
import type { Database } from '../../postgres/database.ts';
import { assertStorableKey, storableText } from '../../postgres/storable.ts';
import type { StoreItemRow } from './store-items.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

/** `value`: JSON text. */
export type ItemImport = Omit<StoreItemRow, 'value'> & { value: string };

/** The deployment's default, from now on. */
const minutes = `nullif(default_item_ttl(), 'infinity')`;

export const statements = {
  create: statement<{ count: number }>(`with added as (
        insert into store_items (namespace, key, value, created_at, updated_at, ttl_minutes, expires_at)
        select array(select json_array_elements_text(i.namespace)), i.key, i.value::jsonb, i.created_at, i.updated_at,
          ${minutes}, now() + make_interval(secs => ${minutes} * 60)
        from json_to_recordset($1::json) as i(namespace json, key text, value text, created_at timestamptz, updated_at timestamptz)
        on conflict (namespace, key) do nothing returning 1
      )
      select count(*)::integer as count from added`),
  existing: readStatement<{
    count: number;
  }>(`select count(*)::integer as count from json_to_recordset($1::json) as n(namespace json, key text)
      join store_items i on i.namespace = array(select json_array_elements_text(n.namespace)) and i.key = n.key`),
};

/** Throws `invalid` with the path of a part that the store cannot keep. */
export const toItemImport = (item: StoreItemRow): ItemImport => {
  assertStorableKey(item);
  return { ...item, value: storableText(item.value) };
};

export const itemImportStorage = (db: Database) => ({
  /** Returns how many were added. */
  async import(items: ItemImport[]): Promise<number> {
    const [row] = await db.query(statements.create, [JSON.stringify(items)]);
    return row?.count ?? 0;
  },

  /** How many of these items exist. */
  async countExisting(items: Pick<ItemImport, 'namespace' | 'key'>[]): Promise<number> {
    const keys = items.map(({ namespace, key }) => ({ namespace, key }));
    const [row] = await db.query(statements.existing, [JSON.stringify(keys)]);
    return row?.count ?? 0;
  },
});
