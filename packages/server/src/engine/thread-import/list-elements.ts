// Reads checkpoints with the engine's serializer, but each element of a list once: a conversation has nearly the same messages in every
// checkpoint. The same element is also the same object, whose blobs are known.
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';

type Fields = Record<string, unknown>;

/** Characters of remembered elements. */
const charsMax = 32 * 1024 * 1024;

export class ListElements {
  readonly #serde: SerializerProtocol;
  readonly #known = new Map<string, unknown>();
  #chars = 0;

  constructor(serde: SerializerProtocol) {
    this.#serde = serde;
  }

  /** The value of the JSON text of a checkpoint. */
  async read(json: Buffer): Promise<unknown> {
    const tree = JSON.parse(json.toString('utf8')) as unknown;
    const { channel_values: values, ...rest } = (tree ?? {}) as Fields;
    if (typeof values !== 'object' || values === null || Array.isArray(values)) return this.#load(tree);
    const read = Object.create(null) as Fields;
    for (const [channel, value] of Object.entries(values))
      read[channel] = Array.isArray(value) ? await this.#list(value) : await this.#load(value);
    return { ...((await this.#load(rest)) as Fields), channel_values: { ...read } };
  }

  async #list(list: unknown[]): Promise<unknown[]> {
    const read: unknown[] = [];
    for (const element of list) {
      const isObject = typeof element === 'object' && element !== null;
      read.push(isObject ? await this.#element(JSON.stringify(element)) : element);
    }
    return read;
  }

  async #element(text: string): Promise<unknown> {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const element = (await this.#serde.loadsTyped('json', text)) as unknown;
    this.#chars += text.length;
    if (this.#chars > charsMax) {
      this.#known.clear();
      this.#chars = text.length;
    }
    this.#known.set(text, element);
    return element;
  }

  #load(tree: unknown): Promise<unknown> {
    return this.#serde.loadsTyped('json', JSON.stringify(tree)) as Promise<unknown>;
  }
}
