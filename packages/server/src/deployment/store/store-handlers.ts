import type { storeRoutes } from '@svc/contract';
import type { Handlers } from '../handlers.ts';
import type { StoreService } from './store-service.ts';

export const storeHandlers = (store: StoreService): Handlers<typeof storeRoutes> => ({
  putItem: async ({ body }) => {
    const { namespace, key, value } = body;
    await store.put({ namespace, key }, value);
  },
  getItem: ({ query }) => store.find({ namespace: query.namespace ?? [], key: query.key }),
  deleteItem: async ({ body }) => {
    await store.delete({ namespace: body.namespace ?? [], key: body.key });
  },
  searchItems: async ({ body }) => {
    const { namespace_prefix: prefix = [], filter, limit, offset } = body;
    return { items: await store.search({ prefix, filter, limit, offset }) };
  },
  listNamespaces: async ({ body }) => ({ namespaces: await store.listNamespaces(body) }),
});
