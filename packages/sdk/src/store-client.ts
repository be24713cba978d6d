import type { Item, SearchItem } from '@svc/contract';
import type { Body, CallOptions, Transport } from './transport.ts';

/** The long-term store, which graphs see as `config.store`. */
export class StoreClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * `ttl` is in minutes; null means that the item never expires. `index` names the texts that searches with a query compare; false
   * for none.
   * @example await client.store.put(['users', 'ada'], 'profile', { likes: 'mathematics' });
   */
  put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    { ttl, index, ...options }: Pick<Body<'putItem'>, 'ttl' | 'index'> & CallOptions = {},
  ): Promise<void> {
    return this.#transport.call('putItem', { body: { namespace, key, value, ttl, index } }, options);
  }

  /** Null when there is no such item. `refreshTtl` sets whether reading restarts the countdown of an item that expires. */
  get(
    namespace: string[],
    key: string,
    { refreshTtl, ...options }: { refreshTtl?: boolean } & CallOptions = {},
  ): Promise<Item | null> {
    const query = { namespace: namespace.join('.'), key, refresh_ttl: refreshTtl };
    return this.#transport.call('getItem', { query }, options);
  }

  delete(namespace: string[], key: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.call('deleteItem', { body: { namespace, key } }, options);
  }

  /**
   * Items whose namespace begins with the prefix, newest update first. With `query`, on a server with `store.index`, the most similar
   * first, with their `score`.
   */
  async search(
    prefix: string[],
    search: Omit<Body<'searchItems'>, 'namespace_prefix'> = {},
    options: CallOptions = {},
  ): Promise<SearchItem[]> {
    const body = { ...search, namespace_prefix: prefix };
    return (await this.#transport.call('searchItems', { body }, options)).items;
  }

  async namespaces(body: Body<'listNamespaces'> = {}, options: CallOptions = {}): Promise<string[][]> {
    return (await this.#transport.call('listNamespaces', { body }, options)).namespaces;
  }
}
