// The `config.store` of a graph: the same long-term store that clients use over HTTP.
import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint';
import { assertStorableKey, storableText } from '../../../storage/postgres/storable.ts';
import { everyRow } from '../../../storage/postgres/row-filter.ts';
import type {
  ItemWrite,
  ListedItem,
  StoreItemRow,
  StoreItemStorage,
} from '../../../storage/deployment/store/store-items.ts';
import type { NamespaceSearch } from '../../../storage/deployment/store/store-namespaces.ts';
import type { StoreIndex } from './store-index.ts';

const namespacesMax = 10_000;

export class SvcStore extends BaseStore {
  readonly #items: StoreItemStorage;
  readonly #index: StoreIndex | undefined;

  /** Without an index, searches ignore `query`, and puts ignore `index`. */
  constructor(items: StoreItemStorage, index?: StoreIndex) {
    super();
    this.#items = items;
    this.#index = index;
  }

  /** Reads get the values from before the batch. Then the puts are stored; for several puts of one key, the last one. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PutOperation>();
    const results = await Promise.all(
      operations.map((operation) => {
        if (isPut(operation)) {
          puts.set(JSON.stringify([operation.namespace, operation.key]), operation);
          return Promise.resolve(null);
        }
        return this.#read(operation);
      }),
    );
    await this.#items.write(await this.#indexed([...puts.values()]));
    return results as OperationResults<Op>;
  }

  /** The puts with vectors. When one cannot be embedded, nothing is stored. */
  async #indexed(puts: PutOperation[]): Promise<ItemWrite[]> {
    const index = this.#index;
    if (!index) return puts.map(({ namespace, key, value }) => ({ namespace, key, value }));
    for (const { namespace, key, value } of puts) if (value !== null) assertStorableKey({ namespace, key });
    const vectors = await index.embed(
      puts.map(({ value, index: fields }) =>
        value === null
          ? { value, index: false }
          : { value: JSON.parse(storableText(value)) as unknown, index: fields },
      ),
    );
    return puts.map(({ namespace, key, value }, at) => ({
      namespace,
      key,
      value,
      vectors: vectors[at] ?? null,
    }));
  }

  async #search(operation: SearchOperation): Promise<(Item & { score: number | undefined })[]> {
    const { namespacePrefix: prefix, filter, query, limit = 10, offset = 0 } = operation;
    if (this.#index && query) {
      const ranked = await this.#index.rank({ prefix, filter, query, limit, offset }, everyRow);
      const { rows } = await this.#items.listRanked(ranked, everyRow);
      return rows.map((row) => ({ ...toItem(parsed(row)), score: row.score }));
    }
    const { rows } = await this.#items.search({ prefix, filter, limit, offset }, everyRow);
    return rows.map((row) => ({ ...toItem(parsed(row)), score: undefined }));
  }

  async #read(operation: Exclude<Operation, PutOperation>): Promise<unknown> {
    if (isSearch(operation)) return this.#search(operation);
    if (isGet(operation)) {
      const row = await this.#items.find(operation, everyRow);
      return row ? toItem(row) : null;
    }
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const search: NamespaceSearch = {
      matches: matchConditions.map(({ matchType, path }) => ({
        at: matchType === 'prefix' ? 'front' : 'back',
        labels: path,
      })),
      max_depth: maxDepth,
      limit: limit ?? namespacesMax,
      offset: offset ?? 0,
    };
    return this.#items.listNamespaces(search, everyRow);
  }
}

const isPut = (operation: Operation): operation is PutOperation => 'value' in operation;
const isSearch = (operation: Operation): operation is SearchOperation => 'namespacePrefix' in operation;
const isGet = (operation: GetOperation | ListNamespacesOperation): operation is GetOperation =>
  'key' in operation;

const parsed = (row: ListedItem): StoreItemRow => ({
  ...row,
  value: JSON.parse(row.value) as StoreItemRow['value'],
});

const toItem = ({ namespace, key, value, created_at, updated_at }: StoreItemRow): Item => ({
  namespace,
  key,
  value,
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at),
});
