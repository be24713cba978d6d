// The JSON of tokens: a message with the metadata of its model. All tokens of a model have the same metadata object, which is longer than
// most tokens, so it is converted once.
import type { ValueCodec } from '../../codec/value-codec.ts';

/** Converts the values of events. `event`: the first part of paths in errors. */
export type EventTexts = Pick<ValueCodec, 'toJson'>;

export class TokenTexts implements EventTexts {
  readonly #texts: EventTexts;
  readonly #metadata = new WeakMap<object, string>();

  constructor(texts: EventTexts) {
    this.#texts = texts;
  }

  toJson(token: unknown, event: string): string {
    const [message, metadata] = token as readonly [message: unknown, metadata: object];
    let known = this.#metadata.get(metadata);
    if (known === undefined) {
      known = this.#texts.toJson(metadata, `${event}[1]`);
      this.#metadata.set(metadata, known);
    }
    return `[${this.#texts.toJson(message, `${event}[0]`)},${known}]`;
  }
}
