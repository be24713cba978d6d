import { expect, it } from 'vitest';
import { conditionsOf, isFiltered } from './run-filter.ts';

const nowMs = Date.parse('2026-11-26T15:00:00Z');
const from = '2026-11-26T14:05:00.000Z';
const to = '2026-11-26T14:06:00.000Z';

it('asks for runs that were created in a range, whatever the time before now', () => {
  expect(conditionsOf({ from, to, since: '1d' }, nowMs)).toEqual({ created_after: from, created_before: to });
  expect(conditionsOf({ since: '1h', to }, nowMs)).toEqual({
    created_after: '2026-11-26T14:00:00.000Z',
    created_before: to,
  });
  expect([isFiltered({ from }), isFiltered({ to }), isFiltered({})]).toEqual([true, true, false]);
});

it('asks for runs that ended in a range, beside the time of their creation', () => {
  const ended = { ended_from: from, ended_to: to };
  expect(conditionsOf(ended, nowMs)).toEqual({ ended_after: from, ended_before: to });
  expect(conditionsOf({ ended_from: from, since: '1h' }, nowMs)).toEqual({
    created_after: '2026-11-26T14:00:00.000Z',
    ended_after: from,
  });
  expect([{ ended_from: from }, { ended_to: to }].map(isFiltered)).toEqual([true, true]);
  expect(isFiltered({ sort: 'asc', ended_to: undefined })).toBe(false);
});
