import { elementsOf } from './json-parts.ts';

/** A value in its stored form: JSON text with tags. Values of Python graphs are stored and sent to clients without being parsed. */
export class StoredText {
  readonly text: string;
  /** The JSON text that clients get, once it was needed. */
  wire: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The elements of a list; undefined for other values. */
  elements(): StoredText[] | undefined {
    return this.text.startsWith('[')
      ? elementsOf(this.text).map((element) => new StoredText(element))
      : undefined;
  }
}
