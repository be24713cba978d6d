// The long-term store, as clients see it.
import { Problem } from '@svc/contract/problem';
import type {
  ItemKey,
  ItemSearch,
  NamespaceSearch,
  StoreItemRow,
  StoreItemStorage,
} from '../../storage/store-items.ts';

/** Characters of JSON. */
const valueMax = 1_000_000;

export class StoreService {
  readonly #items: StoreItemStorage;

  constructor(items: StoreItemStorage) {
    this.#items = items;
  }

  async put(key: ItemKey, value: Record<string, unknown>): Promise<void> {
    const size = JSON.stringify(value).length;
    if (size > valueMax)
      throw new Problem('too_large', `The value has ${size} characters of JSON; ${valueMax} is the limit`);
    await this.#items.put(key, value);
  }

  async find(key: ItemKey): Promise<StoreItemRow | null> {
    return (await this.#items.find(key)) ?? null;
  }

  delete(key: ItemKey): Promise<void> {
    return this.#items.delete(key);
  }

  search(search: ItemSearch): Promise<StoreItemRow[]> {
    return this.#items.search(search);
  }

  listNamespaces(search: NamespaceSearch): Promise<string[][]> {
    return this.#items.listNamespaces(search);
  }
}
