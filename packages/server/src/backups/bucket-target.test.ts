import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { partsOf, startingWith } from './bucket-place.ts';

const sizes = async (chunks: number[], partBytes: number): Promise<number[]> => {
  const found: number[] = [];
  for await (const part of partsOf(Readable.from(chunks.map((bytes) => Buffer.alloc(bytes))), partBytes))
    found.push(part.length);
  return found;
};

it.each([
  [[], []],
  [[3], [3]],
  [[10], [10]],
  [
    [4, 4, 4],
    [10, 2],
  ],
  [[35], [10, 10, 10, 5]],
  [
    [9, 1, 10, 1],
    [10, 10, 1],
  ],
])('chunks of %j bytes become parts of %j', async (chunks, parts) => {
  expect(await sizes(chunks, 10)).toEqual(parts);
});

it('parts keep the bytes in their order', async () => {
  const content = Buffer.from(Array.from({ length: 50 }, (_, n) => n));
  const chunks = Readable.from([content.subarray(0, 7), content.subarray(7, 40), content.subarray(40)]);
  const parts: Buffer[] = [];
  for await (const part of partsOf(chunks, 16)) parts.push(part);
  expect(Buffer.concat(parts)).toEqual(content);
});

it('the sum counts the first part and the others', async () => {
  const sum = { bytes: 0 };
  const rest = partsOf(Readable.from([Buffer.alloc(15)]), 10);
  const parts: number[] = [];
  for await (const part of startingWith(Buffer.alloc(10), rest, sum)) parts.push(part.length);
  expect(parts).toEqual([10, 10, 5]);
  expect(sum.bytes).toBe(25);
});
