// The long-term store.
import { notFound, Problem } from '@svc/contract/problem';
import { rowText } from '../../api/json-text.ts';
import type { PageOf } from '../../api/pagination.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type {
  ItemKey,
  ItemSearch,
  NamespaceMatch,
  NamespaceSearch,
  StoreItemRow,
  StoreItemStorage,
} from '../../storage/deployment/store-items.ts';

type NamespaceRequest = Omit<NamespaceSearch, 'matches'> & {
  prefix?: string[] | undefined;
  suffix?: string[] | undefined;
};

export class StoreService {
  readonly #items: StoreItemStorage;

  constructor(items: StoreItemStorage) {
    this.#items = items;
  }

  /** `ttl` in minutes; null for none; when absent, the deployment's default applies. */
  async put(
    key: ItemKey,
    value: Record<string, unknown>,
    access: AccessFilter,
    ttl?: number | null,
  ): Promise<void> {
    if (!access.matches({ ...value, ...key }))
      throw new Problem('forbidden', 'You may not store this item here.');
    if (!(await this.#items.put({ ...key, value, ttl }, access))) throw notFound('Item', key.key);
  }

  async find(key: ItemKey, access: RowFilter, refresh?: boolean): Promise<StoreItemRow | null> {
    return (await this.#items.find(key, access, refresh)) ?? null;
  }

  delete(key: ItemKey, access: RowFilter): Promise<void> {
    return this.#items.delete(key, access);
  }

  /** Items as JSON texts. */
  async search(search: ItemSearch, access: RowFilter): Promise<PageOf<string>> {
    const { rows, ...more } = await this.#items.search(search, access).catch(inBody);
    return { rows: rows.map((row) => rowText(row, ['value'])), ...more };
  }

  /** `*` in prefix and suffix matches any label. */
  listNamespaces({ prefix, suffix, ...page }: NamespaceRequest, access: RowFilter): Promise<string[][]> {
    const matches: NamespaceMatch[] = [];
    if (prefix) matches.push({ at: 'front', labels: prefix });
    if (suffix) matches.push({ at: 'back', labels: suffix });
    return this.#items.listNamespaces({ ...page, matches }, access);
  }
}

/** Storage locates a fault in the search; the request has the search in its body. */
const inBody = (error: unknown): never => {
  if (!(error instanceof Problem) || error.faults === undefined) throw error;
  const faults = error.faults.map((fault) => ({ ...fault, loc: ['body', ...fault.loc] }));
  throw new Problem(error.code, error.message, { faults });
};
