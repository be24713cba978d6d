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
