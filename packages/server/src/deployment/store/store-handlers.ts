import type { storeRoutes } from '@svc/contract';
import type { Handlers } from '../handlers.ts';
import type { StoreService } from './store-service.ts';

export const storeHandlers = (store: StoreService): Handlers<typeof storeRoutes> => ({
  putItem: async ({ body }) => {
    const { namespace, key, value, ttl } = body;
    await store.put({ namespace, key }, value, ttl);
  },
  getItem: ({ query }) => store.find({ namespace: query.namespace ?? [], key: query.key }, query.refresh_ttl),
  deleteItem: async ({ body }) => {
    await store.delete({ namespace: body.namespace ?? [], key: body.key });
  },
  searchItems: async ({ body }) => {
    const { namespace_prefix: prefix = [], filter, refresh_ttl: refresh, limit, offset } = body;
    return { items: await store.search({ prefix, filter, refresh, limit, offset }) };
  },
  listNamespaces: async ({ body }) => ({ namespaces: await store.listNamespaces(body) }),
});
