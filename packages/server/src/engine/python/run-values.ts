// The values that a run exchanges with its Python process. An element of a list is sent once, as long as it does not change.
// How values are described: svc_executor/lists.py.
import { StoredText } from '../codec/stored-text.ts';

/** A text, or a list: what it shares with the last list of the key, further elements, and the texts of new elements. */
export type ValueSpec =
  | { t: number }
  | { l: [shared: number, handles: number[]]; n: [handle: number, part: number][]; reset?: true };

/** A text, or the elements of a list. */
export type SentSpec = { t: number } | { l: [handle: number, part: number][] };

/** The description of a value is wrong: the two sides of the channel differ. */
export class BrokenValue extends Error {
  override readonly name = 'BrokenValue';
}

export const textAt = (parts: readonly Buffer[], at: number): StoredText => {
  const part = parts[at];
  if (part === undefined) throw new BrokenValue(`a value names the part ${at} of ${parts.length}`);
  return new StoredText(part.toString('utf8'));
};

export class RunValues {
  readonly #elements = new Map<number, StoredText>();
  readonly #lists = new Map<string, readonly number[]>();
  #lastHandle = 0;

  /** The value that the Python process describes. `key` names the channel, with its namespace. */
  read(key: string, spec: ValueSpec, parts: readonly Buffer[]): StoredText | StoredText[] {
    if ('t' in spec) return textAt(parts, spec.t);
    if (spec.reset) {
      this.#elements.clear();
      this.#lists.clear();
    }
    for (const [handle, part] of spec.n) this.#elements.set(handle, textAt(parts, part));
    const [shared, added] = spec.l;
    const handles = [...(this.#lists.get(key) ?? []).slice(0, shared), ...added];
    this.#lists.set(key, handles);
    return handles.map((handle) => this.#element(handle));
  }

  #element(handle: number): StoredText {
    const element = this.#elements.get(handle);
    if (element === undefined) throw new BrokenValue(`a list has the unknown element ${handle}`);
    return element;
  }

  /** Describes a value, and adds its texts to `parts`. The Python process then refers to the elements of a list. */
  describe(key: string, value: StoredText | readonly StoredText[], parts: string[]): SentSpec {
    if (value instanceof StoredText) return { t: parts.push(value.text) - 1 };
    const elements = value.map((element): [number, number] => {
      const handle = --this.#lastHandle;
      this.#elements.set(handle, element);
      return [handle, parts.push(element.text) - 1];
    });
    this.#lists.set(
      key,
      elements.map(([handle]) => handle),
    );
    return { l: elements };
  }
}
