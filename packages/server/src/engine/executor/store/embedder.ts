// Calls the project's embedding model, and checks what it returns.
import { within } from '../../../backoff.ts';
import { EmbeddingError, type EmbeddingModel } from './embedding-model.ts';

/** Texts and characters of one call. */
const callLimits = { texts: 256, chars: 1_000_000 };
export const embedMsMax = 30_000;

interface EmbedderOptions {
  /** Rejects with an EmbeddingError when the model cannot be loaded. */
  load: () => Promise<EmbeddingModel>;
  /** Numbers in one vector. */
  dims: number;
  /** Gets the errors of the model, which clients do not see: they may contain secrets. */
  onError: (error: unknown) => void;
  timeoutMs?: number;
}

export class Embedder {
  readonly #options: EmbedderOptions;
  #loading: Promise<EmbeddingModel> | undefined;

  constructor(options: EmbedderOptions) {
    this.#options = options;
  }

  get dims(): number {
    return this.#options.dims;
  }

  /** Resolves when the model can be called. */
  async load(): Promise<void> {
    await this.#model();
  }

  /** One vector of length 1 for each text. */
  async embedDocuments(texts: readonly string[]): Promise<Float32Array[]> {
    const unique = [...new Set(texts)];
    const vectors = new Map<string, Float32Array>();
    for (const part of partsOf(unique)) {
      const answer = await this.#call((model) => model.embedDocuments(part));
      const found = this.#listOf(answer, part.length);
      for (const [at, text] of part.entries()) vectors.set(text, this.#vectorOf(found[at], at));
    }
    return texts.map((text) => vectors.get(text) ?? new Float32Array(this.dims));
  }

  async embedQuery(text: string): Promise<Float32Array> {
    return this.#vectorOf(await this.#call((model) => model.embedQuery(text)), 0);
  }

  #model(): Promise<EmbeddingModel> {
    this.#loading ??= this.#options.load();
    return this.#loading;
  }

  async #call(work: (model: EmbeddingModel) => unknown): Promise<unknown> {
    const model = await this.#model();
    const { timeoutMs = embedMsMax, onError } = this.#options;
    try {
      return await within(Promise.resolve(model).then(work), timeoutMs, () => {
        throw new EmbeddingError(`The embedding function took more than ${timeoutMs / 1_000} s`);
      });
    } catch (cause) {
      onError(cause);
      if (cause instanceof EmbeddingError) throw cause;
      throw new EmbeddingError('The embedding function failed. The log of the server has its error', {
        cause,
      });
    }
  }

  #listOf(answer: unknown, count: number): readonly unknown[] {
    if (!Array.isArray(answer))
      throw this.#wrong(
        `${nameOf(answer)} for ${count} texts; it must return a list with a vector for each text`,
      );
    if (answer.length !== count) throw this.#wrong(`${answer.length} vectors for ${count} texts`);
    return answer;
  }

  #vectorOf(given: unknown, at: number): Float32Array {
    const { dims } = this.#options;
    if (!isList(given)) throw this.#wrong(`${nameOf(given)} instead of the vector of text ${at}`);
    if (given.length !== dims)
      throw this.#wrong(`a vector of ${given.length} numbers; store.index.dims is ${dims}`);
    let largest = 0;
    for (let index = 0; index < dims; index++) {
      const number: unknown = given[index];
      if (typeof number !== 'number' || !Number.isFinite(number))
        throw this.#wrong(`${nameOf(number)} as number ${index} of the vector of text ${at}`);
      largest = Math.max(largest, Math.abs(number));
    }
    return normalized(given as ArrayLike<number>, largest);
  }

  #wrong(what: string): EmbeddingError {
    const problem = new EmbeddingError(`The embedding function returned ${what}`);
    this.#options.onError(problem);
    return problem;
  }
}

const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || value instanceof Float32Array || value instanceof Float64Array;

const nameOf = (value: unknown): string => {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  return Array.isArray(value) ? 'a list' : `a value of the type ${typeof value}`;
};

/** A vector of zeros stays as it is: its similarity to every vector is 0. */
const normalized = (vector: ArrayLike<number>, largest: number): Float32Array => {
  const scaled = Float64Array.from(vector, (number) => (largest === 0 ? 0 : number / largest));
  const length = Math.sqrt(scaled.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(scaled, (number) => (length === 0 ? 0 : number / length));
};

function* partsOf(texts: readonly string[]): Generator<string[]> {
  let part: string[] = [];
  let chars = 0;
  for (const text of texts) {
    if (part.length === callLimits.texts || (part.length > 0 && chars + text.length > callLimits.chars)) {
      yield part;
      part = [];
      chars = 0;
    }
    part.push(text);
    chars += text.length;
  }
  if (part.length > 0) yield part;
}
