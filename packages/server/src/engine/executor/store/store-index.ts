// The index of the store by meaning: embeds items, and ranks them for a query. It runs in executors, because embedding is code of the
// project, and because comparing many vectors would delay the server process, which renews leases.
import type { StoreIndexConfig } from '../../../config/project/store-index.ts';
import type { RowFilter } from '../../../storage/postgres/row-filter.ts';
import type {
  ItemVectors,
  RankedItem,
  StoreVectorStorage,
} from '../../../storage/deployment/store/store-vectors.ts';
import type { ItemIndexing, MeaningSearch } from '../../dispatch/protocol.ts';
import type { Embedder } from './embedder.ts';
import { itemTexts, parseItemPaths } from './item-texts.ts';
import { Problem } from '@svc/contract/problem';

export interface IndexedItem {
  value: unknown;
  index: ItemIndexing;
}

/** Searches that read vectors at a time, each on a connection of the executor, and how long others wait. */
const turns = { max: 2, waitMsMax: 20_000 };

export class StoreIndex {
  readonly #config: Pick<StoreIndexConfig, 'fields'>;
  readonly #embedder: Embedder;
  readonly #vectors: StoreVectorStorage;
  readonly #turns = new Turns(turns.max, turns.waitMsMax);

  constructor(config: Pick<StoreIndexConfig, 'fields'>, embedder: Embedder, vectors: StoreVectorStorage) {
    this.#config = config;
    this.#embedder = embedder;
    this.#vectors = vectors;
  }

  /** Resolves when the embedding model can be called; rejects with the reason when it cannot be loaded. */
  load(): Promise<void> {
    return this.#embedder.load();
  }

  /** The vectors of each item; null for an item without texts. Throws when one text of one item cannot be embedded. */
  async embed(items: readonly IndexedItem[]): Promise<(ItemVectors | null)[]> {
    const texts = items.map(({ value, index }) =>
      index === false ? [] : itemTexts(value, parseItemPaths(index ?? this.#config.fields)),
    );
    const vectors = await this.#embedder.embedDocuments(texts.flat());
    let at = 0;
    return texts.map(({ length }) => {
      const own = vectors.slice(at, at + length);
      at += length;
      return length === 0 ? null : this.#joined(own);
    });
  }

  /** The items whose texts are most similar to the query, best first. Items without vectors are not among them. */
  async rank({ query, limit, offset, ...items }: MeaningSearch, access: RowFilter): Promise<RankedItem[]> {
    const vector = await this.#embedder.embedQuery(query);
    const search = { ...items, vector, top: offset + limit };
    return (await this.#turns.take(() => this.#vectors.rank(search, access))).slice(offset);
  }

  #joined(vectors: readonly Float32Array[]): ItemVectors {
    const { dims } = this.#embedder;
    const numbers = new Float32Array(vectors.length * dims);
    for (const [at, vector] of vectors.entries()) numbers.set(vector, at * dims);
    return { dims, bytes: new Uint8Array(numbers.buffer) };
  }
}

/** Lets a limited number of searches run at a time; the others wait in their order. */
export class Turns {
  #free: number;
  readonly #waitMsMax: number;
  readonly #waiting = new Set<() => void>();

  constructor(max: number, waitMsMax: number) {
    this.#free = max;
    this.#waitMsMax = waitMsMax;
  }

  /** Throws `unavailable` when the turn does not come in time. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.#begin();
    try {
      return await work();
    } finally {
      this.#end();
    }
  }

  #begin(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(begin);
        reject(new Problem('unavailable', 'Too many searches are running. Try again shortly'));
      }, this.#waitMsMax);
      this.#waiting.add(begin);
    });
  }

  #end(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
