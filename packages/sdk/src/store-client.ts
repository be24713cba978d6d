import type { CallInput, Item, storeRoutes } from '@svc/contract';
import type { CallOptions, Transport } from './transport.ts';

type Body<K extends keyof typeof storeRoutes> = NonNullable<CallInput<(typeof storeRoutes)[K]>['body']>;

/** The long-term store: the same that graphs see as `config.store`. */
export class StoreClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * `ttl` is in minutes; null for ever.
   * @example await client.store.put(['users', 'ada'], 'profile', { likes: 'mathematics' });
   */
  put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    { ttl, ...options }: Pick<Body<'putItem'>, 'ttl'> & CallOptions = {},
  ): Promise<void> {
    return this.#transport.json({
      method: 'PUT',
      path: '/store/items',
      body: { namespace, key, value, ttl },
      ...options,
    });
  }

  /** Null when there is none. `refreshTtl` says whether an item that expires gets its whole time again. */
  get(
    namespace: string[],
    key: string,
    { refreshTtl, ...options }: { refreshTtl?: boolean } & CallOptions = {},
  ): Promise<Item | null> {
    const query = { namespace: namespace.join('.'), key, refresh_ttl: refreshTtl };
    return this.#transport.json({ method: 'GET', path: '/store/items', query, ...options });
  }

  delete(namespace: string[], key: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.json({
      method: 'DELETE',
      path: '/store/items',
      body: { namespace, key },
      ...options,
    });
  }

  /** Items below a namespace, newest update first. */
  async search(
    prefix: string[],
    search: Omit<Body<'searchItems'>, 'namespace_prefix'> = {},
    options: CallOptions = {},
  ): Promise<Item[]> {
    const body = { ...search, namespace_prefix: prefix };
    const found = await this.#transport.json<{ items: Item[] }>({
      method: 'POST',
      path: '/store/items/search',
      body,
      ...options,
    });
    return found.items;
  }

  async namespaces(body: Body<'listNamespaces'> = {}, options: CallOptions = {}): Promise<string[][]> {
    const found = await this.#transport.json<{ namespaces: string[][] }>({
      method: 'POST',
      path: '/store/namespaces',
      body,
      ...options,
    });
    return found.namespaces;
  }
}
