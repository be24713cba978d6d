import { expect, it } from 'vitest';
import type { RunSummary } from '@svc/sdk';
import { canContain } from './new-runs.ts';

const threadId = '0195d2c4-8f2b-7c31-9f0e-1a2b3c4d5e6f';
const run = {
  thread_id: threadId,
  status: 'error',
  created_at: '2026-01-31T12:00:00.000000Z',
  ended_at: '2026-01-31T12:02:00.000000Z',
  metadata: { customer: 'acme', parity: 1 },
} as unknown as RunSummary;
const nowMs = Date.parse('2026-01-31T12:10:00Z');

it.each([
  [{}, true],
  [{ status: ['error' as const] }, true],
  [{ status: ['success' as const] }, false],
  [{ thread: threadId }, true],
  [{ thread: threadId.replace('0195', '0196') }, false],
  [{ since: '15m' as const }, true],
  [{ from: '2026-01-31T12:00:00Z', to: '2026-01-31T12:01:00Z' }, true],
  [{ to: '2026-01-31T12:00:00Z' }, false],
  [{ from: '2026-01-31T12:01:00Z' }, false],
  [{ ended_from: '2026-01-31T12:02:00Z', ended_to: '2026-01-31T12:03:00Z' }, true],
  [{ ended_to: '2026-01-31T12:02:00Z' }, false],
  [{ ended_from: '2026-01-31T12:03:00Z' }, false],
  [{ meta: 'customer:acme' }, true],
  [{ meta: 'customer:other' }, false],
  [{ meta: 'acme' }, false],
  [{ graph: 'agent' }, true],
])('a list with the filter %j can contain the run: %s', (filter, expected) => {
  expect(canContain(filter, run, nowMs)).toBe(expected);
});

it('a list of the last minutes cannot contain an older run', () => {
  expect(canContain({ since: '15m' }, run, nowMs + 3_600_000)).toBe(false);
});

it('a list of runs by their end cannot contain a run that has not ended', () => {
  const { ended_at: _, ...running } = run;
  expect(canContain({ ended_from: '2026-01-31T12:00:00Z' }, running, nowMs)).toBe(false);
});
