// Vectors of store items. They are stored with length 1, so the similarity of two vectors is their dot product.
import { invalid } from '@svc/contract/problem';
import type { RowBytes } from '../../postgres/copy-out.ts';
import type { Database } from '../../postgres/database.ts';
import { all, inlined, sql, type Sql } from '../../postgres/sql.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { below, type ItemCondition, itemConditions } from './store-item-conditions.ts';

/** The vectors of one item, one after another, as 4-byte floats in little-endian order. */
export interface ItemVectors {
  dims: number;
  bytes: Uint8Array;
}

export interface VectorSearch extends ItemCondition {
  /** Of length 1. */
  vector: Float32Array;
  /** How many items are returned at most. */
  top: number;
}

export interface RankedItem {
  namespace: string[];
  key: string;
  /** Cosine similarity of the best vector of the item, from -1 to 1. */
  score: number;
}

export interface SearchLimits {
  /** Vectors that one search compares at most. */
  vectorsMax: number;
  timeMs: number;
}

export const searchLimits: SearchLimits = { vectorsMax: 100_000, timeMs: 10_000 };

/**
 * The parts of a statement that store or delete the vectors of the items that its CTE `item` has written. `given` has the columns
 * namespace, key and vectors; null deletes the vectors. `dims` is an expression.
 */
export const vectorWrites = (given: string, dims: string): string => `indexed as (
    insert into store_vectors as v (namespace, key, item_updated_at, dims, vectors)
    select i.namespace, i.key, i.updated_at, ${dims}, g.vectors from item i join ${given} g using (namespace, key)
    where g.vectors is not null
    on conflict (namespace, key) do update
      set item_updated_at = excluded.item_updated_at, dims = excluded.dims, vectors = excluded.vectors
  ), unindexed as (
    delete from store_vectors v using item i join ${given} g using (namespace, key)
    where g.vectors is null and v.namespace = i.namespace and v.key = i.key
  )`;

/** The vectors of all items that the search may return, in any order. */
const candidates = ({ vector, ...items }: VectorSearch, access: RowFilter): Sql => sql`
  select to_json(v.namespace)::text, v.key, v.vectors
  from (select * from store_vectors where dims = ${vector.length} and ${all(below(items.prefix))}) v
  join (select namespace, key, updated_at from store_items where ${all(itemConditions(items, access))}) i
    on i.namespace = v.namespace and i.key = v.key and i.updated_at = v.item_updated_at`;

const columns = { namespace: 0, key: 1, vectors: 2 } as const;

const valueOf = ({ bytes, ends, lengths }: RowBytes, column: number): Buffer => {
  const end = ends[column] ?? 0;
  return bytes.subarray(end - (lengths[column] ?? 0), end);
};

interface Scored {
  /** JSON text. */
  namespace: string;
  key: string;
  score: number;
}

/** Items with the same score are ordered by their names, so that pages do not overlap. */
const byScore = (a: Scored, b: Scored): number =>
  b.score - a.score || compare(a.namespace, b.namespace) || compare(a.key, b.key);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Keeps the best items of all that are added. */
class Ranking {
  /** Vectors that were compared. */
  compared = 0;
  readonly #vector: Float32Array;
  readonly #top: number;
  #best: Scored[] = [];
  /** Score below which an item is not among the best. */
  #least = -Infinity;
  /** Values of a row are not aligned. */
  #aligned = new Float32Array(0);

  constructor(vector: Float32Array, top: number) {
    this.#vector = vector;
    this.#top = top;
  }

  add(row: RowBytes): void {
    const score = this.#scoreOf(valueOf(row, columns.vectors));
    if (score < this.#least) return;
    const namespace = valueOf(row, columns.namespace).toString();
    this.#best.push({ namespace, key: valueOf(row, columns.key).toString(), score });
    if (this.#best.length >= this.#top * 2 + 100) this.#trim();
  }

  list(): Scored[] {
    this.#trim();
    return this.#best;
  }

  #trim(): void {
    this.#best = this.#best.toSorted(byScore).slice(0, this.#top);
    if (this.#best.length === this.#top) this.#least = this.#best.at(-1)?.score ?? -Infinity;
  }

  #scoreOf(bytes: Buffer): number {
    const vector = this.#vector;
    const dims = vector.length;
    const size = bytes.length / 4;
    if (this.#aligned.length < size) this.#aligned = new Float32Array(size);
    const values = this.#aligned;
    new Uint8Array(values.buffer).set(bytes);
    this.compared += size / dims;
    let best = -Infinity;
    for (let start = 0; start < size; start += dims) {
      let sum = 0;
      for (let at = 0; at < dims; at++) sum += (vector[at] ?? 0) * (values[start + at] ?? 0);
      if (sum > best) best = sum;
    }
    return Math.max(-1, Math.min(1, best));
  }
}

export type StoreVectorStorage = ReturnType<typeof storeVectorStorage>;

export const storeVectorStorage = (db: Database, limits = searchLimits) => ({
  /**
   * The items whose vectors are most similar, best first. The query is compared with every vector below the prefix that passes the
   * conditions. Throws `invalid` when these are more than the limit, or when the search takes too long.
   */
  async rank(search: VectorSearch, access: RowFilter): Promise<RankedItem[]> {
    const text = `copy (${inlined(candidates(search, access))}) to stdout (format binary)`;
    const stop = new AbortController();
    const timer = setTimeout(
      () => stop.abort(tooMuch(`takes more than ${limits.timeMs / 1_000} s`)),
      limits.timeMs,
    );
    try {
      const found = await db.transact(async (tx) => {
        const ranking = new Ranking(search.vector, search.top);
        // PostgreSQL does not notice a closed connection while it finds no rows.
        await tx.query(timeLimit, [String(limits.timeMs + 1_000)]);
        await tx.copyOut(
          text,
          (row) => {
            ranking.add(row);
            if (ranking.compared > limits.vectorsMax)
              stop.abort(tooMuch(`compares the query with more than ${limits.vectorsMax} vectors`));
          },
          stop.signal,
        );
        return ranking.list();
      });
      return found.map(({ namespace, key, score }) => ({
        namespace: JSON.parse(namespace) as string[],
        key,
        score,
      }));
    } catch (error) {
      // The connection was closed, which statements after the COPY may have noticed first.
      stop.signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  },
});

const timeLimit = { text: `select set_config('statement_timeout', $1, true)` };

const tooMuch = (what: string) =>
  invalid(
    ['namespace_prefix'],
    `The search ${what}. Choose a longer namespace_prefix, or a filter that fewer items pass`,
  );
