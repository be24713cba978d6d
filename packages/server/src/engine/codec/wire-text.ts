// Writes stored values as the JSON text that clients get. A part that several values share, such as a message in the states of a history,
// is converted once; a part without tags is already in that form.
import { assemble } from './assemble.ts';
import type { Lookup } from './blob.ts';
import { hasTag } from './tagged.ts';
import { wireValue } from './wire.ts';

export type AddText = (text: string) => void;

/** A blob as JSON text; undefined for what JSON omits. */
class BlobText {
  readonly text: string | undefined;

  constructor(stored: string) {
    this.text = hasTag(stored) ? JSON.stringify(wireValue(JSON.parse(stored))) : stored;
  }
}

export class WireTexts {
  readonly #lookup: Lookup;
  readonly #known = new Map<string, BlobText>();

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** Adds `before` and the text of JSON.stringify() of joinWire(), in pieces. Returns false, and adds nothing, for what JSON omits. */
  write(ref: string, add: AddText, before = ''): boolean {
    const value = assemble(ref, this.#lookup, {
      // Without an item the text is a list of elements, or short.
      text: (text, item) => (item === undefined ? wireValue(JSON.parse(text)) : this.#blob(text, item)),
      tree: (tree) => wireValue(tree) ?? null,
    });
    return writeJson(value, add, before);
  }

  #blob(text: string, item: string): BlobText {
    let blob = this.#known.get(item);
    if (blob === undefined) this.#known.set(item, (blob = new BlobText(text)));
    return blob;
  }
}

/** Adds the text of a JSON value in pieces. Returns false, and adds nothing, for what JSON omits. */
export const writeJson = (value: unknown, add: AddText, before = ''): boolean => {
  if (value instanceof BlobText || typeof value !== 'object' || value === null) {
    const text = value instanceof BlobText ? value.text : JSON.stringify(value);
    if (text === undefined) return false;
    add(before + text);
    return true;
  }
  add(before);
  if (Array.isArray(value)) {
    add('[');
    for (const [index, element] of value.entries()) {
      const comma = index === 0 ? '' : ',';
      if (!writeJson(element, add, comma)) add(`${comma}null`);
    }
    add(']');
    return true;
  }
  let isFirst = true;
  add('{');
  for (const [key, member] of Object.entries(value)) {
    if (writeJson(member, add, `${isFirst ? '' : ','}${JSON.stringify(key)}:`)) isFirst = false;
  }
  add('}');
  return true;
};
