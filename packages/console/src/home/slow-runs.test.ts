import { expect, it } from 'vitest';
import { slowRuns, type EndedRun } from './slow-runs.tsx';

const startMs = Date.parse('2026-01-01T00:00:00Z');

const run = (assistant: string, ms: number): EndedRun => ({
  run_id: `${assistant} ${ms}`,
  thread_id: 'thread',
  assistant_id: assistant,
  started_at: new Date(startMs).toISOString(),
  ended_at: new Date(startMs + ms).toISOString(),
});

const runs = (assistant: string, ...each: number[]): EndedRun[] => each.map((ms) => run(assistant, ms));

it('names the runs that took three times the median of their assistant, the slowest first', () => {
  const found = slowRuns(runs('a', 900, 1_000, 2_900, 1_100, 3_500, 9_000, 1_000, 1_000));
  expect(found).toEqual([
    {
      assistantId: 'a',
      medianMs: 1_000,
      runs: [expect.objectContaining({ ms: 9_000 }), expect.objectContaining({ ms: 3_500 })],
    },
  ]);
});

it('compares runs with others of their assistant only', () => {
  const found = slowRuns([
    ...runs('a', 60_000, 61_000, 62_000, 63_000, 64_000),
    ...runs('b', 9, 10, 11, 12, 13),
  ]);
  expect(found).toEqual([]);
});

it('leaves out fast runs, and assistants with few runs', () => {
  expect(slowRuns([...runs('a', 1, 1, 1, 1, 1_999), ...runs('b', 1, 1, 1, 60_000)])).toEqual([]);
});
