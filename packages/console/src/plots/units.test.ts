import { expect, it } from 'vitest';
import { duration } from '../ui/duration.ts';
import { countUnit, dollarUnit, durationSteps, tokenUnit } from './units.ts';

it('writes counts, tokens and dollars', () => {
  expect([countUnit(18_204), countUnit(2.25)]).toEqual(['18,204', '2.3']);
  expect([tokenUnit(950), tokenUnit(18_204), tokenUnit(2_000_000)]).toEqual(['950', '18.2K', '2M']);
  expect([0, 0.000_123, 0.025, 0.5, 12].map(dollarUnit)).toEqual([
    '$0.00',
    '$0.00012',
    '$0.025',
    '$0.50',
    '$12.00',
  ]);
});

it('has distances of durations in ascending order, up to years', () => {
  expect([...durationSteps].toSorted((a, b) => a - b)).toEqual([...durationSteps]);
  expect(duration(durationSteps.at(-1) ?? 0)).toBe('1000 d 0 h');
});
