// Caches the JSON of messages, because one message is in several places of a trace: the inputs of a model and of its
// node, the outputs of the graph. A message that has changed is serialised again.
import { Serializable } from '@langchain/core/load/serializable';

interface Written {
  text: string;
  /** Snapshot of the message at that time. */
  held: unknown;
}

/** Levels below the payload in which messages are searched. */
const depthMax = 4;

export class MessageTexts {
  readonly #written = new WeakMap<object, Written>();

  /** What JSON.stringify() returns. */
  textOf(value: unknown, depth = 0): string | undefined {
    if (typeof value !== 'object' || value === null || depth > depthMax) return JSON.stringify(value);
    if (isMessage(value)) return this.#messageText(value);
    if (Array.isArray(value)) {
      if (typeof value[0] !== 'object') return JSON.stringify(value);
      return `[${Array.from(value, (item) => this.textOf(item, depth + 1) ?? 'null').join(',')}]`;
    }
    if (!isPlain(value) || 'toJSON' in value) return JSON.stringify(value);
    const entries: string[] = [];
    for (const key of Object.keys(value)) {
      const text = this.textOf((value as Record<string, unknown>)[key], depth + 1);
      if (text !== undefined) entries.push(`${JSON.stringify(key)}:${text}`);
    }
    return `{${entries.join(',')}}`;
  }

  #messageText(message: object): string | undefined {
    const written = this.#written.get(message);
    // The fields, which include the constructor's arguments, determine the JSON.
    const fields = { ...message };
    if (written && isSame(fields, written.held)) return written.text;
    const text = JSON.stringify(message);
    const held = snapshotOf(fields, 0);
    if (held !== uncertain) this.#written.set(message, { text, held });
    return text;
  }
}

/** True for messages with the standard toJSON(). */
const isMessage = (value: object): boolean =>
  '_getType' in value && 'toJSON' in value && value.toJSON === Serializable.prototype.toJSON;

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const uncertain = Symbol('uncertain');
const snapshotDepthMax = 20;

/** A deep copy; `uncertain` for values that are not plain data. */
const snapshotOf = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' || typeof value === 'symbol' ? uncertain : value;
  if (depth > snapshotDepthMax || 'toJSON' in value) return uncertain;
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    for (const item of value) {
      const held = snapshotOf(item, depth + 1);
      if (held === uncertain) return uncertain;
      copy.push(held);
    }
    return copy;
  }
  if (!isPlain(value)) return uncertain;
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    const held = snapshotOf((value as Record<string, unknown>)[key], depth + 1);
    if (held === uncertain) return uncertain;
    copy[key] = held;
  }
  return copy;
};

const isSame = (value: unknown, held: unknown): boolean => {
  if (typeof held !== 'object' || held === null) return Object.is(value, held);
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(held))
    return false;
  if (Array.isArray(held)) {
    const list = value as unknown[];
    return list.length === held.length && held.every((item, at) => isSame(list[at], item));
  }
  if (!isPlain(value)) return false;
  const [keys, heldKeys] = [Object.keys(value), Object.keys(held)];
  if (keys.length !== heldKeys.length) return false;
  return keys.every(
    (key, at) =>
      key === heldKeys[at] &&
      isSame((value as Record<string, unknown>)[key], (held as Record<string, unknown>)[key]),
  );
};
