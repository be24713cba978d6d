import { InMemoryStore } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { itemTexts, parseItemPaths } from '../../engine/executor/store/item-texts.ts';
import { ItemPathError, parseItemPath } from './item-path.ts';

const textsAt = (value: unknown, ...paths: string[]): string[] => itemTexts(value, parseItemPaths(paths));

describe('a path', () => {
  it.each([
    ['$', [JSON.stringify({ a: 1 }, null, 2)], { a: 1 }],
    ['', [JSON.stringify({ a: 1 }, null, 2)], { a: 1 }],
    ['$.a', ['1'], { a: 1 }],
    ['a.b', ['x'], { a: { b: 'x' } }],
    ['list[0]', ['x'], { list: ['x', 'y'] }],
    ['list[-1]', ['y'], { list: ['x', 'y'] }],
    ['list[9]', [], { list: ['x'] }],
    ['list[*].t', ['x', 'y'], { list: [{ t: 'x' }, { n: 1 }, { t: 'y' }] }],
    ['*', ['x', 'true'], { a: 'x', b: null, c: true }],
    ['{a, b.c}', ['x', 'y'], { a: 'x', b: { c: 'y' } }],
    ['{a,b}.t', ['x', 'y'], { a: { t: 'x' }, b: { t: 'y' } }],
    ['constructor', [], {}],
    ['a.length', [], { a: 'text' }],
  ])('%j finds %j', (path, texts, value) => {
    expect(textsAt(value, path)).toEqual(texts);
  });

  it.each([
    ['a[0', '['],
    ['a]', ']'],
    ['{a', '{'],
    ['a[x]', '[x] is not an index'],
    ['{}', '{} names no member'],
    ['{a,{b}}', '{'],
  ])('%j cannot be parsed', (path, part) => {
    expect(() => parseItemPath(path)).toThrow(ItemPathError);
    expect(() => parseItemPath(path)).toThrow(part);
  });

  it('of any characters is parsed or refused, quickly', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab.$[]{}*,-0 '.split('')), maxLength: 256 });
    fc.assert(
      fc.property(text, (path) => {
        try {
          parseItemPath(path);
        } catch (error) {
          expect(error).toBeInstanceOf(ItemPathError);
        }
      }),
    );
  });

  it("finds the texts that the engine's in-memory store embeds", async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('x', 'y', 'z'),
        fc.integer({ min: 0, max: 9 }),
        fc.boolean(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3 }),
      ),
    }));
    const step = fc.oneof(
      name.map((member) => `.${member}`),
      fc.constantFrom('[0]', '[-1]', '[*]', '.*'),
    );
    // The in-memory store takes no steps after a list of members, and only members in it.
    const path = fc
      .tuple(fc.array(step, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '.{a,b}', '.{a,b.c}'))
      .map(([steps, end]) => (steps.join('') + end).replace(/^\./, ''));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, value), path, async (item, at) => {
        const embedded: string[] = [];
        const embeddings = {
          embedDocuments: (texts: string[]) => {
            embedded.push(...texts);
            return Promise.resolve(texts.map(() => [1]));
          },
        };
        const store = new InMemoryStore({ index: { dims: 1, embeddings: embeddings as never } });
        await store.put(['n'], 'k', item as Record<string, unknown>, [at]);
        expect([...new Set(textsAt(item, at))].toSorted()).toEqual(embedded.toSorted());
      }),
      { numRuns: 500 },
    );
  });
});
