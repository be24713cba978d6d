import { expect, it } from 'vitest';
import { expandedSize } from './blob.ts';
import { testCodec as codec } from '../../../test/codec-values.ts';

/** The blobs of a value, each once, as they are stored. */
const blobsOf = (value: unknown) => [
  ...new Map(codec.split(value).blobs.map((blob) => [blob.hash, blob])).values(),
];

it('counts equal elements as often as they occur', () => {
  const blobs = blobsOf(Array.from({ length: 100_000 }, () => 'x'.repeat(60)));
  expect(blobs.length).toBeLessThan(100);
  expect(expandedSize(blobs)).toBeGreaterThan(100_000 * 60);
});

it('counts inline elements as often as their list occurs', () => {
  const blobs = blobsOf(Array.from({ length: 200_000 }, () => 1));
  expect(blobs.length).toBeLessThan(100);
  expect(expandedSize(blobs)).toBeGreaterThan(200_000);
});

it('counts each value once that no other one contains', () => {
  const blobs = blobsOf({ a: 'x'.repeat(2_000), b: 'y'.repeat(2_000) });
  const size = expandedSize(blobs);
  expect(size).toBeGreaterThan(4_000);
  expect(size).toBeLessThan(4_500);
});

it('counts elements that were not read', () => {
  const list = Array.from({ length: 1_000 }, (_, at) => `${at} ${'x'.repeat(100)}`);
  const nodes = blobsOf(list).filter(({ refs = [] }) => refs.length > 0);
  expect(expandedSize(nodes)).toBeGreaterThan(1_000 * 40);
});
