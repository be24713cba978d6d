import { expect, it } from 'vitest';
import { conditionsOf, isFiltered } from './thread-filter.ts';

const nowMs = Date.parse('2026-11-26T15:00:00Z');
const from = '2026-11-26T14:05:00.000Z';
const to = '2026-11-26T14:06:00.000Z';

it('asks for the time by which the list is sorted', () => {
  expect(conditionsOf({ since: '1h' }, nowMs)).toEqual({ state_updated_after: '2026-11-26T14:00:00.000Z' });
  expect(conditionsOf({ from, to, sort: 'created_at' }, nowMs)).toEqual({
    created_after: from,
    created_before: to,
  });
  expect(conditionsOf({ since: '7d', to, sort: 'updated_at' }, nowMs)).toEqual({
    updated_after: '2026-11-19T15:00:00.000Z',
    updated_before: to,
  });
});

it('asks for a graph and an owner by their metadata, whatever the metadata filter contains', () => {
  expect(conditionsOf({ meta: 'customer:42,graph_id:x,svc_auth_user_id:bob' }, nowMs)).toEqual({
    metadata: { customer: 42, graph_id: 'x', svc_auth_user_id: 'bob' },
  });
  expect(
    conditionsOf({ meta: 'graph_id:x,svc_auth_user_id:bob', graph: 'agent', owner: 'ann lee: 5' }, nowMs),
  ).toEqual({ metadata: { graph_id: 'agent', svc_auth_user_id: 'ann lee: 5' } });
});

it('has no condition without a filter, and the order is none', () => {
  expect(conditionsOf({ sort: 'created_at' }, nowMs)).toEqual({});
  expect(isFiltered({ sort: 'created_at' })).toBe(false);
  expect([{ owner: 'ann' }, { since: '1d' as const }, { from }, { to }].map(isFiltered)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});
