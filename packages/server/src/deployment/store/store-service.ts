// The long-term store.
import { notFound, Problem } from '@svc/contract/problem';
import { rowText } from '../../api/json-text.ts';
import type { PageOf } from '../../api/pagination.ts';
import { parseItemPaths } from '../../engine/executor/store/item-texts.ts';
import { storableText } from '../../storage/postgres/storable.ts';
import type { ItemIndexing } from '../../engine/dispatch/protocol.ts';
import type { ItemIndex } from './item-index.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type {
  ItemKey,
  ItemSearch,
  StoreItemRow,
  StoreItemStorage,
} from '../../storage/deployment/store/store-items.ts';
import type { NamespaceMatch, NamespaceSearch } from '../../storage/deployment/store/store-namespaces.ts';

type NamespaceRequest = Omit<NamespaceSearch, 'matches'> & {
  prefix?: string[] | undefined;
  suffix?: string[] | undefined;
};

/** `select`: the requested fields; all when absent. */
interface SearchRequest extends ItemSearch {
  query?: string | undefined;
  select?: readonly string[] | undefined;
}

interface PutOptions {
  /** In minutes; null for none; when absent, the deployment's default applies. */
  ttl?: number | null | undefined;
  /** What searches by meaning compare with. Ignored when the store has no index. */
  index?: ItemIndexing;
}

export class StoreService {
  readonly #items: StoreItemStorage;
  readonly #index: ItemIndex | undefined;

  /** Without an index, searches ignore `query`. */
  constructor(items: StoreItemStorage, index?: ItemIndex) {
    this.#items = items;
    this.#index = index;
  }

  /** The item is stored with its vectors, or not at all. */
  async put(
    key: ItemKey,
    value: Record<string, unknown>,
    access: AccessFilter,
    { ttl, index }: PutOptions = {},
  ): Promise<void> {
    if (!access.matches({ ...value, ...key }))
      throw new Problem('forbidden', 'You may not store this item here.');
    const vectors = this.#index && (await embedded(this.#index, value, index).catch(inBody));
    if (!(await this.#items.put({ ...key, value, ttl, vectors }, access))) throw notFound('Item', key.key);
  }

  async find(key: ItemKey, access: RowFilter, refresh?: boolean): Promise<StoreItemRow | null> {
    return (await this.#items.find(key, access, refresh)) ?? null;
  }

  delete(key: ItemKey, access: RowFilter): Promise<void> {
    return this.#items.delete(key, access);
  }

  /** Items as JSON texts. With a query and an index, the most similar first; otherwise the newest first. */
  async search({ query, ...search }: SearchRequest, access: RowFilter): Promise<PageOf<string>> {
    if (this.#index && query) return this.#searchByMeaning(this.#index, { ...search, query }, access);
    const { select, ...wanted } = search;
    const { rows, ...more } = await this.#items.searchSelected(wanted, access, select).catch(inBody);
    return { rows: rows.map((row) => rowText(row, ['value'], select)), ...more };
  }

  async #searchByMeaning(
    index: ItemIndex,
    { query, prefix, filter, refresh, limit, offset, select }: SearchRequest & { query: string },
    access: RowFilter,
  ): Promise<PageOf<string>> {
    // One more than the page shows whether there are more.
    const ranked = await index
      .rank({ query, prefix, filter, limit: limit + 1, offset }, access)
      .catch(inBody);
    const shown = ranked.slice(0, limit);
    const { rows, hasMore, isCut } = await this.#items.listRankedSelected(shown, access, { refresh, select });
    return {
      rows: rows.map((row) => rowText(row, ['value'], select)),
      hasMore: hasMore || ranked.length > limit,
      isCut,
    };
  }

  /** `*` in prefix and suffix matches any label. */
  listNamespaces({ prefix, suffix, ...page }: NamespaceRequest, access: RowFilter): Promise<string[][]> {
    const matches: NamespaceMatch[] = [];
    if (prefix) matches.push({ at: 'front', labels: prefix });
    if (suffix) matches.push({ at: 'back', labels: suffix });
    return this.#items.listNamespaces({ ...page, matches }, access);
  }
}

const embedded = async (index: ItemIndex, value: Record<string, unknown>, paths: ItemIndexing) => {
  if (paths) parseItemPaths(paths);
  // Checked before the project's model is called with it.
  return index.embed(storableText(value), paths);
};

/** Storage locates a fault in the search; the request has the search in its body. */
const inBody = (error: unknown): never => {
  if (!(error instanceof Problem) || error.faults === undefined) throw error;
  const faults = error.faults.map((fault) => ({ ...fault, loc: ['body', ...fault.loc] }));
  throw new Problem(error.code, error.message, { faults });
};
