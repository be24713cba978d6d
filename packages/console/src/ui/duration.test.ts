import { expect, it } from 'vitest';
import { age, ahead, duration } from './duration.ts';

it('a duration has two units at most, and is never negative', () => {
  expect([412, 4_200, 185_000, 3_720_000, 90_000_000, -5].map(duration)).toEqual([
    '412 ms',
    '4.2 s',
    '3 min 5 s',
    '1 h 2 min',
    '1 d 1 h',
    '0 ms',
  ]);
});

it('an age is a rough one', () => {
  expect([0, 61_000, 7_200_000].map(age)).toEqual(['just now', '1 min ago', '2 h ago']);
});

it('a time ahead is named by its two largest units', () => {
  const ms = [-5, 999, 59_000, 61_000, 3_661_000, 90_000_000];
  expect(ms.map(ahead)).toEqual(['now', 'now', 'in 59 s', 'in 1 min', 'in 1 h 1 min', 'in 1 d 1 h']);
  expect(ahead(30 * 86_400_000 - 2_000)).toBe('in 30 d');
});
