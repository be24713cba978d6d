import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addDecimals, compareDecimals, decimalText, parseDecimal } from '../decimal.ts';
import { costOf } from './price-service.ts';

const price = {
  prompt_cost: '0.000003',
  completion_cost: '0.000015',
  prompt_cost_details: { cache_read: '0.0000003' },
  completion_cost_details: {},
};

describe('the cost of tokens', () => {
  it('is exact, and uses the price of their kind when there is one', () => {
    const tokens = {
      prompt_tokens: 1_000,
      completion_tokens: 7,
      prompt_details: { cache_read: 900, audio: 5 },
      completion_details: { reasoning: 3 },
    };
    expect(costOf(tokens, price)).toEqual({
      prompt_cost: '0.00057',
      completion_cost: '0.000105',
      total_cost: '0.000675',
      prompt_cost_details: { cache_read: '0.00027' },
      completion_cost_details: {},
    });
  });

  it('counts no token twice, for any details', () => {
    const tokens = {
      prompt_tokens: 10,
      completion_tokens: 0,
      prompt_details: { cache_read: 99 },
      completion_details: {},
    };
    expect(costOf(tokens, price).total_cost).toBe('0.000003');
  });
});

describe('a decimal', () => {
  const digits = fc.tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(20));
  const decimal = digits.map(([units, scale]) => ({ units, scale }));

  it('is formatted as it was parsed', () => {
    fc.assert(
      fc.property(decimal, (value) => {
        const read = parseDecimal(decimalText(value));
        expect(read && compareDecimals(read, value)).toBe(0);
      }),
    );
  });

  it('adds up in any order', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, (a, b, c) => {
        const [left, right] = [addDecimals(addDecimals(a, b), c), addDecimals(a, addDecimals(b, c))];
        expect(decimalText(left)).toBe(decimalText(right));
      }),
    );
  });

  it.each([
    ['1e-3', '0.001'],
    ['-0.50', '-0.5'],
    ['12e2', '1200'],
  ])('is parsed from %s', (written, text) => {
    expect(decimalText(parseDecimal(written) ?? { units: 0n, scale: 0 })).toBe(text);
  });

  it.each(['', '.', '1.', 'x', '1e', '0x1', 'Infinity'])('is not parsed from %j', (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });
});
