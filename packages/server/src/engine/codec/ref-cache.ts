import { isSame, opaque, snapshotOf, type Snapshot } from './snapshot.ts';

/** How a list was chunked at one level: its items, where each chunk ends, and the items of the chunks themselves. */
export interface ListLevel {
  items: string[];
  ends: number[];
  chunks: string[];
}

/** Lists that are remembered: usually one for each channel that grows. */
const listsMax = 8;

const samePrefix = (a: string[], b: string[]): number => {
  const length = Math.min(a.length, b.length);
  let same = 0;
  while (same < length && a[same] === b[same]) same++;
  return same;
};

/**
 * References of the objects that one session has stored or read in one blob space. An object that a graph returns
 * unchanged costs a comparison instead of JSON and a hash. The blobs of a cached reference were returned by an earlier
 * `split`: a caller that discards blobs instead of storing them must discard the cache too.
 */
export class RefCache {
  readonly #known = new WeakMap<object, { item: string; snapshot: Snapshot }>();
  readonly #lists: ListLevel[][] = [];

  /** The reference of this object (by identity), if the object has not changed since `remember`. */
  find(value: object): string | undefined {
    const known = this.#known.get(value);
    return known !== undefined && isSame(value, known.snapshot) ? known.item : undefined;
  }

  remember(value: object, item: string): void {
    const snapshot = snapshotOf(value);
    if (snapshot !== opaque) this.#known.set(value, { item, snapshot });
  }

  /** Removes and returns the recent list with the longest common beginning. The new list replaces it. */
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

  /** Number of chunks of the level that are within the common beginning of both lists. */
  static reusable(level: ListLevel, items: string[]): number {
    const same = samePrefix(level.items, items);
    let count = 0;
    while (count < level.ends.length && (level.ends[count] ?? 0) <= same) count++;
    return count;
  }
}
