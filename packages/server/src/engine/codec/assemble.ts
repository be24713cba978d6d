import type { Lookup, StoredBlob } from './blob.ts';
import { damaged } from './codec-error.ts';
import { isRecord } from '../../json/is-record.ts';
import { setOwn } from './tagged.ts';

/** Converts the parts of a stored value: to live values, or to the JSON that clients get. */
export interface PartReader {
  /** A part in its stored form; `item` is its reference if it is a blob. */
  text(text: string, item?: string): unknown;
  tree(tree: unknown): unknown;
  /** Parses the payload of a list, if its elements may not be parsed as JSON. */
  list?(payload: string): unknown[];
  /** Parses the payload of an object. */
  object?(payload: string): { at: string[]; of: unknown };
}

/** Far more levels than `split` creates. */
const depthMax = 64;

class Assembler {
  readonly #lookup: Lookup;
  readonly #reader: PartReader;

  constructor(lookup: Lookup, reader: PartReader) {
    this.#lookup = lookup;
    this.#reader = reader;
  }

  value(hash: string, depth: number): unknown {
    const { refs, payload } = this.#get(hash, depth);
    if (refs === undefined) return this.#reader.text(payload, `#${hash}`);
    if (!payload.startsWith('[')) return this.#object(refs, payload, depth);
    const list: unknown[] = [];
    this.#node(list, refs, payload, depth);
    return list;
  }

  #get(hash: string, depth: number): { refs: string[] | undefined; payload: string } {
    const blob: StoredBlob | undefined = this.#lookup(hash);
    if (!blob) throw damaged(`blob ${hash} is missing`);
    const { refs, payload } = blob;
    if (typeof payload !== 'string' || depth > depthMax) throw damaged(`blob ${hash} is not readable`);
    return { refs: refs && refs.length > 0 ? refs : undefined, payload };
  }

  #append(list: unknown[], hash: string, depth: number): void {
    const { refs, payload } = this.#get(hash, depth);
    if (refs !== undefined) return this.#node(list, refs, payload, depth);
    const part = this.#reader.text(payload);
    if (!Array.isArray(part)) throw damaged(`blob ${hash} is not a list`);
    for (const value of part) list.push(value);
  }

  #node(list: unknown[], refs: string[], payload: string, depth: number): void {
    const parts = this.#reader.list?.(payload) ?? (JSON.parse(payload) as unknown[]);
    const [lists, ...inline] = parts as [number, ...unknown[]];
    for (const hash of refs.slice(0, lists)) this.#append(list, hash, depth + 1);
    const start = list.length;
    let next = 0;
    const putInline = (): void => {
      while (next < inline.length && inline[next] === list.length - start) {
        list.push(this.#reader.tree(inline[next + 1]));
        next += 2;
      }
    };
    for (const hash of refs.slice(lists)) {
      putInline();
      list.push(this.value(hash, depth + 1));
    }
    putInline();
  }

  #object(refs: string[], payload: string, depth: number): unknown {
    const parts = this.#reader.object?.(payload) ?? (JSON.parse(payload) as { at: string[]; of: unknown });
    const { at, of } = parts;
    const object = this.#reader.tree(of);
    if (!isRecord(object)) throw damaged('an object has no keys');
    for (const [index, hash] of refs.entries()) {
      const key = at[index] ?? '';
      setOwn(object, key, this.value(hash, depth + 1));
    }
    return object;
  }
}

/** Rebuilds a value from its reference and the blobs that it reaches. */
export const assemble = (ref: string, lookup: Lookup, reader: PartReader): unknown => {
  if (ref.startsWith('=')) return reader.text(ref.slice(1));
  const assembler = new Assembler(lookup, reader);
  if (ref.startsWith('#')) return assembler.value(ref.slice(1), 0);
  if (ref.startsWith('['))
    return ref
      .slice(1)
      .split(',')
      .map((hash) => assembler.value(hash, 0));
  throw damaged(`${JSON.stringify(ref.slice(0, 60))} is not a reference`);
};
