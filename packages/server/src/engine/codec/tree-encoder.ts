import { types } from 'node:util';
import { CodecError, pathText, type PathKey } from './codec-error.ts';
import { instanceTree } from './instance-tree.ts';
import { isMessage, messageTree } from './message-tree.ts';
import { StoredText } from './stored-text.ts';
import { setOwn, tagKey } from './tagged.ts';

const depthMax = 1000;

/** True for objects whose content cannot be read from fields. They are stored as empty objects, as by the engine's own serializer. */
const hasNoFields = (value: object): boolean =>
  types.isPromise(value) ||
  types.isWeakMap(value) ||
  types.isWeakSet(value) ||
  value instanceof WeakRef ||
  types.isGeneratorObject(value) ||
  types.isMapIterator(value) ||
  types.isSetIterator(value);

interface Jsonable {
  toJSON: (key: string) => unknown;
}

export interface TreeEncoderOptions {
  /** The first part of paths in errors. */
  name?: string | undefined;
}

/** What JSON has no value for. Like the engine's own serializer: absent as a member of an object, null as an element of a list. */
const isOmitted = (value: unknown): boolean => typeof value === 'function' || typeof value === 'symbol';

/**
 * Converts a value to the tree that JSON.stringify writes. Parts that are plain JSON already are returned and not copied,
 * so the usual value costs one traversal. The receiver must not change them.
 */
export class TreeEncoder {
  readonly #name: string;
  /** The path to the current part. Only entries below `#depth` are valid. */
  readonly #keys: PathKey[] = [];
  readonly #objects: object[] = [];
  #depth = 0;
  readonly #child = (key: PathKey, value: unknown): unknown => {
    this.#keys[this.#depth - 1] = key;
    return this.#tree(value);
  };

  constructor(options: TreeEncoderOptions = {}) {
    this.#name = options.name ?? 'value';
  }

  tree(value: unknown): unknown {
    this.#depth = 0;
    return this.#tree(value);
  }

  text(value: unknown): string {
    return JSON.stringify(this.tree(value));
  }

  /** Like `text`, for a part of a larger value. */
  partText(parent: object, key: PathKey, value: unknown): string {
    if (isOmitted(value)) return 'null';
    this.#depth = 1;
    this.#objects[0] = parent;
    this.#keys[0] = key;
    return JSON.stringify(this.#tree(value));
  }

  #tree(value: unknown): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : { $: 'number', of: Object.is(value, -0) ? '-0' : String(value) };
      case 'undefined':
        return { $: 'undefined' };
      case 'bigint':
        return { $: 'bigint', of: String(value) };
      case 'object':
        return value === null ? null : this.#object(value);
      case 'function':
      case 'symbol':
        return { $: 'undefined' };
    }
  }

  #object(value: object): unknown {
    const depth = this.#depth;
    if (depth >= depthMax) throw this.#tooDeep(value);
    // Extra fields of errors are optional, so a cycle through an error must be found at once, and not at the depth limit.
    if (value instanceof Error && depth > 0 && this.#objects.lastIndexOf(value, depth - 1) !== -1)
      throw this.#cycle(value, depth);
    this.#objects[depth] = value;
    this.#depth = depth + 1;
    const tree = Array.isArray(value) ? this.#array(value) : this.#notArray(value);
    this.#depth = depth;
    return tree;
  }

  #array(list: unknown[]): unknown[] {
    let copy: unknown[] | undefined;
    const depth = this.#depth - 1;
    for (let index = 0; index < list.length; index++) {
      const value = list[index];
      if (typeof value === 'string' || typeof value === 'boolean' || value === null) continue;
      this.#keys[depth] = index;
      const tree = isOmitted(value) ? null : this.#tree(value);
      if (tree !== value) {
        copy ??= Array.from(list);
        copy[index] = tree;
      }
    }
    return copy ?? list;
  }

  #notArray(value: object): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) {
      const { toJSON } = value as { toJSON?: unknown };
      return typeof toJSON === 'function'
        ? this.#json(value as Jsonable)
        : this.#record(value as Record<string, unknown>);
    }
    if (isMessage(value)) return messageTree(value, this.#child);
    if (value instanceof StoredText) return JSON.parse(value.text) as unknown;
    const tree = instanceTree(value, this.#child, this.#optional);
    if (tree !== undefined) return tree;
    if (hasNoFields(value)) return {};
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === 'function' ? this.#json(value as Jsonable) : this.#record({ ...value });
  }

  #record(record: Record<string, unknown>): unknown {
    let copy: Record<string, unknown> | undefined;
    const depth = this.#depth - 1;
    for (const key of Object.keys(record)) {
      const value = record[key];
      if (typeof value === 'string' || typeof value === 'boolean' || value === null) continue;
      this.#keys[depth] = key;
      if (isOmitted(value)) {
        copy ??= { ...record };
        delete copy[key];
        continue;
      }
      const tree = this.#tree(value);
      if (tree !== value) {
        copy ??= { ...record };
        setOwn(copy, key, tree);
      }
    }
    const tree = copy ?? record;
    return Object.hasOwn(tree, tagKey) ? { $: 'object', of: tree } : tree;
  }

  #json(value: Jsonable): unknown {
    return this.#child('toJSON()', value.toJSON(''));
  }

  /** The tree of an optional part; undefined when the part cannot be stored. */
  readonly #optional = (key: PathKey, value: unknown): unknown => {
    const depth = this.#depth;
    try {
      return this.#child(key, value);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.#depth = depth;
      return undefined;
    }
  };

  #error(reason: string, depth = this.#depth): CodecError {
    return new CodecError(pathText(this.#name, this.#keys.slice(0, depth)), reason);
  }

  #tooDeep(value: object): CodecError {
    const path = [...this.#objects.slice(0, this.#depth), value];
    const again = path.findIndex((object, index) => path.indexOf(object) < index);
    const repeated = path[again];
    if (repeated !== undefined) return this.#cycle(repeated, again);
    const beginning = pathText(this.#name, this.#keys.slice(0, 8));
    return new CodecError(`${beginning}…`, `is nested more than ${depthMax} levels deep`);
  }

  #cycle(value: object, depth: number): CodecError {
    const first = pathText(this.#name, this.#keys.slice(0, this.#objects.indexOf(value)));
    return this.#error(`refers back to ${first}: a cycle cannot be stored`, depth);
  }
}
