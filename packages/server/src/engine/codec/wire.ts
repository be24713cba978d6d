// Converts the stored form of a value to the plain JSON that clients get. Does not need LangChain.
import { assemble } from './assemble.ts';
import type { Lookup } from './blob.ts';
import { damaged } from './codec-error.ts';
import { messageFields, messageTypeOf, type MessageType } from './message-tree.ts';
import { isMadeByPython, memberName, pythonData, pythonInstance, pythonMessage } from './python-wire.ts';
import { isRecord } from '../../json/is-record.ts';
import { hasTag, isTagged, setOwn, type Tagged } from './tagged.ts';

type Fields = Record<string, unknown>;

/** A Map whose keys can all be property names becomes an object, any other a list of pairs. */
const isName = (key: unknown): boolean =>
  typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean';

class WireWriter {
  /** The JSON value of a tree; undefined for what JSON omits. Does not change the tree. */
  value(tree: unknown): unknown {
    if (typeof tree !== 'object' || tree === null) return tree;
    if (Array.isArray(tree)) return this.#list(tree);
    const record = tree as Fields;
    return isTagged(record) ? this.#tagged(record) : this.#record(record);
  }

  #list(list: unknown[]): unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const part = list[index];
      const value = this.value(part);
      if (value === part) continue;
      copy ??= [...list];
      copy[index] = value === undefined ? null : value;
    }
    return copy ?? list;
  }

  #record(record: Fields): Fields {
    let copy: Fields | undefined;
    for (const key of Object.keys(record)) {
      const part = record[key];
      const value = this.value(part);
      if (value === part) continue;
      copy ??= { ...record };
      if (value === undefined) delete copy[key];
      else setOwn(copy, key, value);
    }
    return copy ?? record;
  }

  #tagged(tree: Tagged): unknown {
    const { of } = tree;
    const type = messageTypeOf(tree.$);
    if (type)
      return isMadeByPython(tree) ? this.#record(pythonMessage(type, tree)) : this.#message(type, tree);
    switch (tree.$) {
      case 'object':
        return this.#record(of as Fields);
      case 'undefined':
        return undefined;
      case 'number':
        return of === '-0' ? 0 : null;
      case 'date':
        return typeof of === 'number' ? new Date(of).toISOString() : null;
      case 'map':
        return isMadeByPython(tree)
          ? this.#dict(of as [unknown, unknown][])
          : this.#map(of as [unknown, unknown][]);
      case 'set':
        return this.#list(of as unknown[]);
      case 'bigint': // its digits, as in protobuf's JSON
      case 'bytes':
      case 'url':
        return of;
      case 'regexp':
        return `/${String(of)}/${String(tree['flags'])}`;
      case 'error':
        return { name: tree['name'], message: tree['message'] };
      case 'py':
        return this.value(pythonData(tree));
      default:
        return this.#instance(tree);
    }
  }

  /** A dict of Python. A list of pairs when it has a key that cannot be a name. */
  #dict(entries: [unknown, unknown][]): unknown {
    const object: Fields = {};
    for (const [key, part] of entries) {
      const name = memberName(this.value(key));
      if (name === undefined) return this.#list(entries);
      setOwn(object, name, this.value(part) ?? null);
    }
    return object;
  }

  #map(entries: [unknown, unknown][]): unknown {
    if (!entries.every(([key]) => isName(key))) return this.#list(entries);
    const object: Fields = {};
    for (const [key, part] of entries) {
      const value = this.value(part);
      if (value !== undefined) setOwn(object, String(key), value);
    }
    return object;
  }

  #instance(tree: Tagged): unknown {
    const made = isMadeByPython(tree) ? pythonInstance(tree) : undefined;
    if (made) return this.#record(made);
    const { $: tag, ...parts } = tree;
    switch (tag) {
      case 'send':
        return { lg_name: 'Send', ...this.#record(parts) };
      case 'command':
        return { lg_name: 'Command', ...this.#record(parts) };
      case 'overwrite': {
        const value = this.value(parts['of']);
        return value === undefined ? {} : { __overwrite__: value };
      }
      case 'delta':
        return this.value(parts['of']);
      case 'document':
        return this.#record(parts);
      default:
        throw damaged(`the tag ${JSON.stringify(tag)} is unknown`);
    }
  }

  /** The flat dictionary that clients expect, with every field that the API documents. */
  #message(type: MessageType, tree: Tagged): Fields {
    const out: Fields = {
      content: tree['content'],
      additional_kwargs: tree['additional_kwargs'] ?? {},
      response_metadata: tree['response_metadata'] ?? {},
      type,
      name: tree['name'] ?? null,
      id: tree['id'] ?? null,
    };
    if (type === 'human' || type === 'ai') out['example'] = false;
    if (type === 'ai') {
      out['tool_calls'] = tree['tool_calls'] ?? [];
      out['invalid_tool_calls'] = tree['invalid_tool_calls'] ?? [];
      if (tree.$ === 'ai_chunk') out['tool_call_chunks'] = tree['tool_call_chunks'] ?? [];
      out['usage_metadata'] = tree['usage_metadata'] ?? null;
    }
    for (const key in tree) if (!(key in out) && messageFields.has(key)) out[key] = tree[key];
    const { own, kwargs } = tree;
    for (const more of [kwargs, own]) {
      if (!isRecord(more)) continue;
      for (const key of Object.keys(more)) {
        if (key === 'example' || !Object.hasOwn(out, key)) setOwn(out, key, more[key]);
      }
    }
    return this.#record(out);
  }
}

const writer = new WireWriter();

/** The JSON value of a stored tree, which is not changed; undefined for what JSON omits. */
export const wireValue = (tree: unknown): unknown => writer.value(tree);

/** The JSON value of a stored text. */
export const wireText = (text: string): unknown => {
  const tree: unknown = JSON.parse(text);
  return hasTag(text) ? wireValue(tree) : tree;
};

/** Like `join`, but returns the JSON value that clients get; undefined for what JSON omits. */
export const joinWire = (ref: string, lookup: Lookup): unknown =>
  assemble(ref, lookup, { text: wireText, tree: (tree) => wireValue(tree) ?? null });
