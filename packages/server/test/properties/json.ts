// Properties of the JSON code. The tests beside it check them with few values, json.slow.test.ts with many.
import fc from 'fast-check';
import { expect } from 'vitest';
import { parseStrictText } from '../../src/json/strict-json.ts';
import { textBytes, textOf } from '../../src/parsing/json-bytes.ts';

/** The bytes of a text that is written in pieces are those of the whole text. */
export const writesPieces = (piece: fc.Arbitrary<string>) =>
  fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
    const bytes = textBytes((add) => {
      for (const text of pieces) add(text);
    });
    const whole = Buffer.from(pieces.join(''));
    expect(Buffer.concat(bytes.blocks).equals(whole)).toBe(true);
    expect(bytes.length).toBe(whole.length);
    expect(textOf(bytes)).toBe(whole.toString());
  });

const storableJson = fc.jsonValue({ depthSize: 'large', stringUnit: 'binary' }).map((value) => {
  // Lone surrogates, NUL and __proto__ are rejected on purpose.
  return JSON.parse(JSON.stringify(value).replace(/\\u0000|\\ud[89a-f]..|__proto__/g, '?')) as unknown;
});

/** Strict JSON accepts everything that JSON.stringify can write, like JSON.parse. */
export const acceptsStringified = fc.property(
  storableJson,
  fc.constantFrom(undefined, 1),
  (value, indent) => {
    const text = JSON.stringify(value, undefined, indent);
    expect(parseStrictText(text)).toStrictEqual(JSON.parse(text));
  },
);
