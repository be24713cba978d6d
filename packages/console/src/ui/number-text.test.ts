import { expect, it } from 'vitest';
import { costOf, tokensOf } from './number-text.ts';

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
