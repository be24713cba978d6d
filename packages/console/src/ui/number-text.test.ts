import { expect, it } from 'vitest';
import { costOf, countText, sizeOf, tokensOf } from './number-text.ts';

it('a cost keeps the digits that matter', () => {
  expect(['12.3456', '0.0412', '0.00001234', '0', null, 'x'].map(costOf)).toEqual([
    '$12.35',
    '$0.0412',
    '$0.000012',
    '$0.0000',
    '',
    '',
  ]);
});

it('tokens are grouped, and absent ones are empty', () => {
  expect([18_204, 0, null].map(tokensOf)).toEqual(['18,204', '0', '']);
});

it('a size has one decimal, and the largest unit that fits', () => {
  const sizes = [0, 999, 1_000, 999_940, 999_990, 61_320_000, 5e15];
  expect(sizes.map(sizeOf)).toEqual(['0 B', '999 B', '1.0 kB', '999.9 kB', '1.0 MB', '61.3 MB', '5000.0 TB']);
});

it('a count has its noun', () => {
  expect([countText(1, 'file'), countText(1_204_511, 'row')]).toEqual(['1 file', '1,204,511 rows']);
});
