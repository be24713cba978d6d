import { expect, it } from 'vitest';
import { amountProblem, draftOf, spanText, ttlOf, type TtlDraft } from './ttl-draft.ts';

const ttl = (ttl_minutes: number) => ({ strategy: 'delete', ttl_minutes, expires_at: null }) as const;
const draft = (amount: string, unit: TtlDraft['unit'] = 'days'): TtlDraft => ({
  strategy: 'keep_latest',
  amount,
  unit,
});

it('is written in the longest unit of which it is a whole number', () => {
  expect([1, 90, 120, 1_440, 43_200, 0.5, 5_000_000].map(spanText)).toEqual([
    '1 minute',
    '90 minutes',
    '2 hours',
    '1 day',
    '30 days',
    '0.5 minutes',
    '5,000,000 minutes',
  ]);
  expect(draftOf(ttl(120))).toEqual({ strategy: 'delete', amount: '2', unit: 'hours' });
  expect(draftOf(undefined).strategy).toBe('never');
});

it('is the same after it was read and written', () => {
  for (const minutes of [0.25, 1, 59, 60, 1_439, 1_440, 52_560_000])
    expect(ttlOf(draftOf(ttl(minutes)))).toEqual({ strategy: 'delete', ttl: minutes });
});

it('is sent in minutes, and as null to remove it', () => {
  expect(ttlOf(draft('1.5', 'hours'))).toEqual({ strategy: 'keep_latest', ttl: 90 });
  expect(ttlOf({ ...draft('nothing'), strategy: 'never' })).toBeNull();
});

it.each(['', ' ', '0', '-1', 'soon', 'NaN'])('is no number above 0: "%s"', (amount) => {
  expect(amountProblem(draft(amount))).toBe('The time must be a number above 0.');
});

it('is at most a hundred years, in the unit of the field', () => {
  expect(amountProblem(draft('36500'))).toBeUndefined();
  expect(amountProblem(draft('36501'))).toBe('The time must be at most 36,500 days, a hundred years.');
  expect(amountProblem(draft('Infinity', 'minutes'))).toMatch(/52,560,000 minutes/);
  expect(amountProblem({ ...draft('0'), strategy: 'never' })).toBeUndefined();
});
