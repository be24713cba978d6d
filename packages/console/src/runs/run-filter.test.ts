import { expect, it } from 'vitest';
import { conditionsOf, isFiltered, problemOf } from './run-filter.ts';

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

it.each([
  [{ meta: 'blue' }, 'blue is not key:value.'],
  [{ thread: 'blue' }, 'Enter the whole id of a thread'],
  [{ rejected: ['status=eror'] }, 'status=eror'],
])('the filter %j has a problem, and no request', (filter, problem) => {
  expect(problemOf(filter)).toContain(problem);
  expect(() => conditionsOf(filter, nowMs)).toThrow(problem);
});

it('a filter without a problem has conditions', () => {
  const thread = '0195d2c4-8f2b-7c31-9f0e-1a2b3c4d5e6f';
  expect(problemOf({ thread, meta: 'name:"Ann Lee"' })).toBeUndefined();
  expect(conditionsOf({ thread, meta: 'name:"Ann Lee"' }, nowMs)).toEqual({
    thread_id: thread,
    metadata: { name: 'Ann Lee' },
  });
});
