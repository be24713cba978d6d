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
import { everyRow } from '../../storage/postgres/row-filter.ts';
import type {
  NamespaceSearch,
  StoreItemRow,
  StoreItemStorage,
} from '../../storage/deployment/store-items.ts';

const namespacesMax = 10_000;

export class SvcStore extends BaseStore {
  readonly #items: StoreItemStorage;

  constructor(items: StoreItemStorage) {
    super();
    this.#items = items;
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
    await this.#items.write(
      [...puts.values()].map(({ namespace, key, value }) => ({ namespace, key, value })),
    );
    return results as OperationResults<Op>;
  }

  async #read(operation: Exclude<Operation, PutOperation>): Promise<unknown> {
    if (isSearch(operation)) {
      const { namespacePrefix, filter, limit = 10, offset = 0 } = operation;
      const { rows } = await this.#items.search({ prefix: namespacePrefix, filter, limit, offset }, everyRow);
      return rows.map((row) => ({
        ...toItem({ ...row, value: JSON.parse(row.value) as StoreItemRow['value'] }),
        score: undefined,
      }));
    }
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

const toItem = ({ namespace, key, value, created_at, updated_at }: StoreItemRow): Item => ({
  namespace,
  key,
  value,
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at),
});
