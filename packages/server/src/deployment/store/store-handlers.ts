import type { storeRoutes } from '@svc/contract';
import { type Handlers, RawJson } from '../../api/handlers.ts';
import { JsonText } from '../../api/json-text.ts';
import { pageReply } from '../../api/pagination.ts';
import { assertStorableSize } from '../../storage/postgres/storable.ts';
import type { StoreService } from './store-service.ts';

/** Checks the size of a large value before it is parsed. */
const itemValue = (value: Record<string, unknown>): Record<string, unknown> => {
  if (!(value instanceof JsonText)) return value;
  assertStorableSize(Buffer.byteLength(value.text));
  return value.value() as Record<string, unknown>;
};

export const storeHandlers = (store: StoreService): Handlers<typeof storeRoutes> => ({
  putItem: async ({ body }, { authorizer }) => {
    const { value: requested, access } = await authorizer.authorize('store:put', {
      namespace: body.namespace,
      key: body.key,
      value: itemValue(body.value),
      index: body.index,
    });
    const { namespace, key, value, index } = requested;
    await store.put({ namespace, key }, value, access, { ttl: body.ttl, index });
  },
  getItem: async ({ query }, { authorizer }) => {
    const requested = { namespace: query.namespace ?? [], key: query.key };
    const { value, access } = await authorizer.authorize('store:get', requested);
    return store.find(value, access, query.refresh_ttl);
  },
  deleteItem: async ({ body }, { authorizer }) => {
    const requested = { namespace: body.namespace ?? [], key: body.key };
    const { value, access } = await authorizer.authorize('store:delete', requested);
    await store.delete(value, access);
  },
  searchItems: async ({ body }, { authorizer }) => {
    const { namespace_prefix: namespace = [], refresh_ttl: refresh, select, ...requested } = body;
    const { value, access } = await authorizer.authorize('store:search', {
      ...requested,
      namespace,
    });
    const { namespace: prefix, filter, query, limit, offset } = value;
    const page = await store.search({ prefix, filter, query, refresh, select, limit, offset }, access);
    const items = RawJson.list(page.rows, '{"items":[', ']}');
    return pageReply(items, page, { next: offset + page.rows.length });
  },
  listNamespaces: async ({ body }, { authorizer }) => {
    const { prefix, ...requested } = body;
    const { value, access } = await authorizer.authorize('store:list_namespaces', {
      ...requested,
      namespace: prefix,
    });
    const { namespace, ...rest } = value;
    return { namespaces: await store.listNamespaces({ ...rest, prefix: namespace }, access) };
  },
});
