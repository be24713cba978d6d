// A snapshot is a copy of a value, to detect later changes. Every primitive and every key is compared, in order, so a
// value that equals its snapshot would be encoded the same.
import { hiddenArguments, isMessage, type Message } from './message-tree.ts';
import { StoredText } from './stored-text.ts';

/** The snapshot of a value that cannot be compared cheaply and exactly (class instances, Maps, …). It equals nothing. */
const opaque = Symbol('opaque');

interface RecordSnapshot {
  prototype: unknown;
  keys: string[];
  values: Snapshot[];
  /** Constructor arguments of a message that are not properties. */
  hidden: [string, Snapshot][] | undefined;
}

type Snapshot =
  | typeof opaque
  | string
  | number
  | boolean
  | bigint
  | null
  | undefined
  | Snapshot[]
  | RecordSnapshot;

const argumentsKey = 'lc_kwargs';

const hiddenSnapshot = (message: Message): [string, Snapshot][] | undefined =>
  hiddenArguments(message)?.map((key) => [key, snapshotOf(message.lc_kwargs?.[key])]);

const recordSnapshot = (value: object): Snapshot => {
  const prototype: unknown = Object.getPrototypeOf(value);
  const message = prototype !== Object.prototype && prototype !== null;
  if (message && !isMessage(value)) return opaque;
  if (!message && typeof (value as { toJSON?: unknown }).toJSON === 'function') return opaque;
  const keys: string[] = [];
  const values: Snapshot[] = [];
  // These are own keys: neither plain objects nor messages inherit enumerable ones.
  for (const key in value) {
    if (message && key === argumentsKey) continue;
    const part = snapshotOf((value as Record<string, unknown>)[key]);
    if (part === opaque) return opaque;
    keys.push(key);
    values.push(part);
  }
  const hidden = message ? hiddenSnapshot(value as Message) : undefined;
  if (hidden?.some(([, part]) => part === opaque)) return opaque;
  return { prototype, keys, values, hidden };
};

/** The value must have no cycles, which holds for every value that was encoded. */
const snapshotOf = (value: unknown): Snapshot => {
  switch (typeof value) {
    case 'object': {
      if (value === null) return null;
      if (!Array.isArray(value)) return recordSnapshot(value);
      const parts: Snapshot[] = [];
      for (const item of value) {
        const part = snapshotOf(item);
        if (part === opaque) return opaque;
        parts.push(part);
      }
      return parts;
    }
    case 'function':
    case 'symbol':
      return opaque;
    case 'string':
    case 'number':
    case 'boolean':
    case 'bigint':
    case 'undefined':
      return value;
  }
};

const sameHidden = (message: Message, hidden: RecordSnapshot['hidden']): boolean => {
  const keys = hiddenArguments(message);
  if (keys === undefined || hidden === undefined) return keys === hidden;
  return (
    keys.length === hidden.length &&
    keys.every(
      (key, index) => key === hidden[index]?.[0] && isSame(message.lc_kwargs?.[key], hidden[index]?.[1]),
    )
  );
};

const sameRecord = (value: object, { prototype, keys, values, hidden }: RecordSnapshot): boolean => {
  if (Object.getPrototypeOf(value) !== prototype) return false;
  const message = prototype !== Object.prototype && prototype !== null;
  let index = 0;
  for (const key in value) {
    if (message && key === argumentsKey) continue;
    if (key !== keys[index] || !isSame((value as Record<string, unknown>)[key], values[index])) return false;
    index++;
  }
  return index === keys.length && (!message || sameHidden(value as Message, hidden));
};

/** True when the value has not changed since the snapshot. Terminates for cycles too, because a snapshot is finite. */
const isSame = (value: unknown, snapshot: Snapshot): boolean => {
  if (typeof value !== 'object' || value === null) return Object.is(value, snapshot);
  if (typeof snapshot !== 'object' || snapshot === null) return false;
  if (!Array.isArray(value)) return !Array.isArray(snapshot) && sameRecord(value, snapshot);
  if (!Array.isArray(snapshot) || value.length !== snapshot.length) return false;
  for (let index = 0; index < value.length; index++) {
    if (!isSame(value[index], snapshot[index])) return false;
  }
  return true;
};

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
    if (known === undefined) return undefined;
    // A text cannot change.
    return value instanceof StoredText || isSame(value, known.snapshot) ? known.item : undefined;
  }

  remember(value: object, item: string): void {
    const snapshot = value instanceof StoredText ? null : snapshotOf(value);
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
