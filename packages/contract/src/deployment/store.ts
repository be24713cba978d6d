import * as z from 'zod';
import { Empty, JsonObject, nullish, queryList, QueryBoolean, Time } from '../json.ts';
import { limit, offset, pageHeaders } from '../page.ts';
import { routesOf } from '../route.ts';
import { Minutes } from './ttl.ts';

export const Label = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^.]*$/, 'must not contain a dot');
export const Namespace = z
  .array(Label)
  .max(32)
  .meta({ id: 'Namespace', description: 'Labels, the outermost first' });
const Key = z.string().min(1).max(512);
/** Paths of the texts that searches with a query compare; false for none. */
export const ItemIndex = z.union([z.literal(false), z.array(z.string().max(256)).max(100)]);

export const Item = z
  .object({ namespace: Namespace, key: Key, value: JsonObject, created_at: Time, updated_at: Time })
  .meta({ id: 'Item', description: 'A value of the long-term store' });
export type Item = z.output<typeof Item>;

export const SearchItem = Item.extend({
  score: z
    .number()
    .optional()
    .describe('Cosine similarity to the query, from -1 to 1; absent without a query or an index'),
}).meta({ id: 'SearchItem', description: 'An item that a search has found' });
export type SearchItem = z.output<typeof SearchItem>;

const fields = [
  'namespace',
  'key',
  'value',
  'created_at',
  'updated_at',
  'score',
] as const satisfies (keyof SearchItem)[];

const access = (action: string) => ({ resource: 'store', action }) as const;
const route = routesOf('Store');

const dotted = (value: unknown): unknown =>
  typeof value === 'string' ? (value === '' ? [] : value.split('.')) : value;

export const storeRoutes = {
  putItem: route('put', '/store/items', {
    summary: 'Store a value, replacing what was there',
    access: access('put'),
    body: z.object({
      namespace: Namespace.min(1),
      key: Key,
      value: JsonObject,
      index: ItemIndex.nullish().describe(
        'Paths of the texts that searches with a query compare; false for none; the default is set in svc.json',
      ),
      ttl: Minutes.nullish().describe(
        'Minutes until the item expires; null means never; the default is set in svc.json',
      ),
    }),
    textFields: ['value'],
    status: 204,
    response: Empty,
  }),
  getItem: route('get', '/store/items', {
    summary: 'Get a value, or null',
    access: access('get'),
    // Reading restarts the countdown of an item that expires.
    changes: 'always',
    query: z.object({
      key: Key,
      namespace: z.preprocess(dotted, queryList(Label)).describe('Labels joined with dots, or repeated'),
      refresh_ttl: QueryBoolean.optional().describe(
        'Whether reading restarts the countdown of the item; the default is set in svc.json',
      ),
    }),
    response: Item.nullable(),
  }),
  deleteItem: route('delete', '/store/items', {
    audited: 'store_item.delete',
    summary: 'Delete a value, if there is one',
    access: access('delete'),
    body: z.object({ namespace: nullish(Namespace), key: Key }),
    status: 204,
    response: Empty,
  }),
  searchItems: route('post', '/store/items/search', {
    summary: 'Search values whose namespace begins with a prefix',
    access: access('search'),
    bodyOptional: true,
    body: z.object({
      namespace_prefix: nullish(Namespace),
      filter: nullish(JsonObject),
      limit: limit(10),
      offset,
      query: nullish(z.string().max(10_000)).describe(
        'Orders items by similarity to this text, if svc.json has store.index; otherwise it has no effect',
      ),
      refresh_ttl: nullish(z.boolean()).describe(
        'Whether reading restarts the countdown of the items that are found',
      ),
      select: nullish(z.array(z.enum(fields)).max(fields.length)).describe(
        'The fields that are returned; all of them by default',
      ),
    }),
    response: z.object({ items: z.array(SearchItem) }),
    headers: pageHeaders,
  }),
  listNamespaces: route('post', '/store/namespaces', {
    summary: 'List namespaces',
    access: access('list_namespaces'),
    bodyOptional: true,
    body: z.object({
      prefix: nullish(Namespace),
      suffix: nullish(Namespace),
      max_depth: nullish(z.int().min(1).max(32)),
      limit: limit(100),
      offset,
    }),
    response: z.object({ namespaces: z.array(Namespace) }),
  }),
};
