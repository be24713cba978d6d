import { isSame, opaque, snapshotOf, type Snapshot } from './snapshot.ts';

/** How a list was chunked at one level: which items, where each chunk ends, and the chunks' own items. */
export interface ListLevel {
  items: string[];
  ends: number[];
  chunks: string[];
}

/** Lists that grow side by side: one per channel is the common case. */
const listsMax = 8;

const samePrefix = (a: string[], b: string[]): number => {
  const length = Math.min(a.length, b.length);
  let same = 0;
  while (same < length && a[same] === b[same]) same++;
  return same;
};

/**
 * What one session has stored or read in one blob space: objects that a graph hands back unchanged are recognised
 * and cost a comparison, no JSON and no hash. A reference found here implies that its blobs were handed out before:
 * a caller that drops blobs, instead of storing them, must drop the cache too.
 */
export class RefCache {
  readonly #known = new WeakMap<object, { item: string; snapshot: Snapshot }>();
  readonly #lists: ListLevel[][] = [];

  /** The reference of this very object, if it has not changed since it was remembered. */
  find(value: object): string | undefined {
    const known = this.#known.get(value);
    return known !== undefined && isSame(value, known.snapshot) ? known.item : undefined;
  }

  remember(value: object, item: string): void {
    const snapshot = snapshotOf(value);
    if (snapshot !== opaque) this.#known.set(value, { item, snapshot });
  }

  /** The recent list that shares the longest beginning with this one. Taken out: the new list replaces it. */
  takeList(items: string[]): ListLevel[] | undefined {
    let best = -1;
    let longest = 0;
    for (const [index, [level]] of this.#lists.entries()) {
      const same = level === undefined ? 0 : samePrefix(level.items, items);
      if (same > longest) [best, longest] = [index, same];
    }
    return best === -1 ? undefined : this.#lists.splice(best, 1)[0];
  }

  addList(levels: ListLevel[]): void {
    this.#lists.push(levels);
    if (this.#lists.length > listsMax) this.#lists.shift();
  }

  /** How many chunks of the level are within the beginning that both lists share. */
  static reusable(level: ListLevel, items: string[]): number {
    const same = samePrefix(level.items, items);
    let count = 0;
    while (count < level.ends.length && (level.ends[count] ?? 0) <= same) count++;
    return count;
  }
}
