import { expect, it } from 'vitest';
import { plural, sizeOf } from './sizes.ts';

it('a size has one decimal, and the largest unit that fits', () => {
  const sizes = [0, 999, 1_000, 999_940, 999_990, 61_320_000, 5e15];
  expect(sizes.map(sizeOf)).toEqual(['0 B', '999 B', '1.0 kB', '999.9 kB', '1.0 MB', '61.3 MB', '5000.0 TB']);
});

it('a count has its noun', () => {
  expect([plural(1, 'file'), plural(1_204_511, 'row')]).toEqual(['1 file', '1,204,511 rows']);
});
