import { readFileSync } from 'node:fs';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { describe, expect, test } from 'vitest';
import { packageFile } from '../../config/package-files.ts';
import { createTextCodec } from './text-codec.ts';
import { StoredText } from './stored-text.ts';
import { joinWire } from './wire.ts';
import { testCodec } from '../../../test/codec-values.ts';

interface Vectors {
  values: { python: string; stored: string; wire: unknown }[];
  fromJavaScript: { stored: string }[];
}

const vectors = JSON.parse(readFileSync(packageFile('test/vectors/values.json'), 'utf8')) as Vectors;
const codec = createTextCodec();

describe('a value that Python has stored', () => {
  test.each(vectors.values)('is for clients what the vector says: $python', ({ stored, wire }) => {
    expect(JSON.parse(codec.toJson(new StoredText(stored)))).toEqual(wire);
    const { ref, blobs } = codec.split([new StoredText(stored)]);
    const map = new Map(blobs.map((blob) => [blob.hash, blob]));
    expect(joinWire(ref, (hash) => map.get(hash))).toEqual([wire]);
  });

  test.each(vectors.values)('can be read and stored by a JavaScript graph: $python', ({ stored }) => {
    const again = testCodec.encode(testCodec.decode(stored));
    expect(testCodec.encode(testCodec.decode(again))).toBe(again);
  });

  test('is a message of JavaScript, or plain data', () => {
    const text = (expression: string): string =>
      vectors.values.find(({ python }) => python === expression)?.stored ?? '';
    expect(testCodec.decode(text('messages.HumanMessage("hi", id="1")'))).toBeInstanceOf(HumanMessage);
    const reply = testCodec.decode(text('classes.Reply("yo", mood="happy")'));
    expect(reply).toBeInstanceOf(AIMessage);
    expect(reply).toMatchObject({ content: 'yo', mood: 'happy' });
    expect(testCodec.decode(text('messages.ToolMessage("r", tool_call_id="c", name="f")'))).toMatchObject(
      new ToolMessage({ content: 'r', tool_call_id: 'c', name: 'f' }),
    );
    expect(testCodec.decode(text('classes.Place("here", {"x": classes.Color.RED})'))).toEqual({
      name: 'here',
      at: { x: 'red' },
    });
  });
});

test.each(vectors.fromJavaScript)('$stored is what JavaScript stores', ({ stored }) => {
  expect(JSON.parse(testCodec.encode(testCodec.decode(stored)))).toEqual(JSON.parse(stored));
});
