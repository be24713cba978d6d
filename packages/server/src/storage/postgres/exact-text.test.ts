import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromExactJson, fromExactText, toExactJson, toExactText } from './exact-text.ts';

/** Any code units: pairs, unpaired surrogates, NUL and the escape character. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('\0', '\u{10FFFF}', '\ud800', '\udfff', 'ffff', 'a'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
  )
  .map((pieces) => pieces.join(''));

describe('an exact text', () => {
  it('can be stored, and is restored unchanged', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const exact = toExactText(text);
        expect(exact).not.toMatch(/\0|\p{Surrogate}/u);
        expect(fromExactText(exact)).toBe(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the text itself when it needs no escapes', () => {
    expect(toExactText('grüße 🎉 \u001f')).toBe('grüße 🎉 \u001f');
  });

  it('is decoded in JSON, including keys', () => {
    fc.assert(
      fc.property(
        fc.dictionary(anyText, fc.oneof(anyText, fc.array(anyText), fc.integer()), { noNullPrototype: true }),
        (value) => {
          expect(fromExactJson(JSON.parse(toExactJson(value)))).toEqual(value);
        },
      ),
    );
  });
});
