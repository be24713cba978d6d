import { describe, expect, it } from 'vitest';
import { Embedder } from './embedder.ts';
import type { EmbeddingModel } from './embedding-model.ts';

const embedderOf = (embedDocuments: EmbeddingModel['embedDocuments'], options: object = {}) => {
  const errors: unknown[] = [];
  const model = { embedDocuments, embedQuery: (text: string) => [text.length, 0] };
  const embedder = new Embedder({
    load: () => Promise.resolve(model),
    dims: 2,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { embedder, errors };
};

describe('an embedder', () => {
  it('returns vectors of length 1, also of very large numbers', async () => {
    const { embedder } = embedderOf(() => [
      [3, 4],
      [1e300, 0],
      [0, 0],
    ]);
    const [first, large, zero] = await embedder.embedDocuments(['a', 'b', 'c']);
    expect([...(first ?? [])]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
    expect([...(large ?? [])]).toEqual([1, 0]);
    expect([...(zero ?? [])]).toEqual([0, 0]);
  });

  it('embeds equal texts once, and many texts in several calls', async () => {
    const calls: number[] = [];
    const { embedder } = embedderOf((texts) => {
      calls.push(texts.length);
      return texts.map((text) => Float32Array.from([Number(text), 1]));
    });
    const texts = Array.from({ length: 600 }, (_, n) => String(n % 300));
    const vectors = await embedder.embedDocuments(texts);
    expect(calls).toEqual([256, 44]);
    expect(vectors).toHaveLength(600);
    expect(vectors[299]).toEqual(vectors[599]);
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /returned undefined for 1 texts/],
    ['a promise of an object', Promise.resolve({}), /a value of the type object for 1 texts/],
    [
      'too many vectors',
      [
        [1, 2],
        [1, 2],
      ],
      /2 vectors for 1 texts/,
    ],
    ['a vector of another size', [[1, 2, 3]], /a vector of 3 numbers; store.index.dims is 2/],
    ['null as a vector', [null], /null instead of the vector of text 0/],
    ['Infinity', [[1, Infinity]], /Infinity as number 1 of the vector of text 0/],
    ['a text as a number', [[1, '2']], /a value of the type string as number 1/],
    ['a vector with a hole', [[1, undefined]], /undefined as number 1/],
  ])('rejects %s, and reports it', async (_, answer, sentence) => {
    const { embedder, errors } = embedderOf(() => answer);
    await expect(embedder.embedDocuments(['text'])).rejects.toThrow(sentence);
    expect(errors).toHaveLength(1);
  });

  it('hides the error of the model from callers, and reports it', async () => {
    const { embedder, errors } = embedderOf(() => {
      throw new Error('the key secret-key is wrong');
    });
    const failed = embedder.embedDocuments(['text']);
    await expect(failed).rejects.toThrow('The embedding function failed');
    await expect(failed).rejects.not.toThrow(/secret-key/);
    expect(errors).toMatchObject([{ message: 'the key secret-key is wrong' }]);
  });

  it('stops to wait for a model after the time limit', async () => {
    const { embedder } = embedderOf(() => new Promise(() => undefined), { timeoutMs: 20 });
    await expect(embedder.embedDocuments(['text'])).rejects.toThrow('took more than 0.02 s');
  });
});
