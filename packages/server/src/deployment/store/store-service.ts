// The long-term store, as clients see it.
import type {
  ItemKey,
  ItemSearch,
  NamespaceMatch,
  NamespaceSearch,
  StoreItemRow,
  StoreItemStorage,
} from '../../storage/store-items.ts';

type NamespaceRequest = Omit<NamespaceSearch, 'matches'> & {
  prefix?: string[] | undefined;
  suffix?: string[] | undefined;
};

export class StoreService {
  readonly #items: StoreItemStorage;

  constructor(items: StoreItemStorage) {
    this.#items = items;
  }

  /** `ttl` in minutes; null for ever; when absent, as the deployment says. */
  put(key: ItemKey, value: Record<string, unknown>, ttl?: number | null): Promise<void> {
    return this.#items.write([{ ...key, value, ttl }]);
  }

  async find(key: ItemKey, refresh?: boolean): Promise<StoreItemRow | null> {
    return (await this.#items.find(key, refresh)) ?? null;
  }

  delete(key: ItemKey): Promise<void> {
    return this.#items.write([{ ...key, value: null }]);
  }

  search(search: ItemSearch): Promise<StoreItemRow[]> {
    return this.#items.search(search);
  }

  /** `*` in prefix and suffix stands for any one label. */
  listNamespaces({ prefix, suffix, ...page }: NamespaceRequest): Promise<string[][]> {
    const matches: NamespaceMatch[] = [];
    if (prefix) matches.push({ at: 'front', labels: prefix });
    if (suffix) matches.push({ at: 'back', labels: suffix });
    return this.#items.listNamespaces({ ...page, matches });
  }
}
