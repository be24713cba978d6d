import { AIMessage, HumanMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyValue, testCodec as codec } from './test-values.ts';
import { joinWire } from './wire.ts';
import { WireTexts } from './wire-text.ts';

const written = (texts: WireTexts, ref: string): string => {
  const pieces: string[] = [];
  texts.write(ref, (piece) => void pieces.push(piece));
  return pieces.join('');
};

const textOr = (make: () => string): string => {
  try {
    return make();
  } catch (error) {
    return (error as Error).name;
  }
};

test('the text of a stored value is that of its JSON value', () => {
  const message = fc
    .tuple(fc.string({ maxLength: 400 }), fc.boolean())
    .map(([content, isHuman]) => (isHuman ? new HumanMessage({ content }) : new AIMessage({ content })));
  const values = fc.oneof(
    anyValue,
    fc.array(message, { maxLength: 40 }),
    fc.record({ messages: fc.array(message, { maxLength: 20 }), other: anyValue, last: message }),
  );
  fc.assert(
    fc.property(values, (value) => {
      const { ref, blobs } = codec.split(value);
      const map = new Map(blobs.map((blob) => [blob.hash, blob]));
      const texts = new WireTexts((hash) => map.get(hash));
      const expected = textOr(() => JSON.stringify(joinWire(ref, (hash) => map.get(hash))) ?? '');
      expect(textOr(() => written(texts, ref))).toBe(expected);
      // The second time from what the first has converted.
      expect(textOr(() => written(texts, ref))).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});
