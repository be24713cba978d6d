import type { Run } from '@svc/sdk';
import { expect, it } from 'vitest';
import { newestOf } from './new-runs.ts';

const at = (created_at: string) => ({ created_at }) as Run;

it('newer runs than those of a list begin at the next millisecond', () => {
  const runs = [at('2026-01-31T12:00:00.000900Z'), at('2026-01-31T12:00:01.000900Z')];
  expect(newestOf(runs, {})).toBe('2026-01-31T12:00:01.001Z');
});

it('ascending lists and empty lists have no newer runs', () => {
  expect(newestOf([at('2026-01-31T12:00:00.000000Z')], { sort: 'asc' })).toBeUndefined();
  expect(newestOf([], {})).toBeUndefined();
});
