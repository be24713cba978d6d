import { expect, it } from 'vitest';
import { LogRateLimit } from './log-rate-limit.ts';

it('a process that logs more than it may send drops lines, and says how many with the next one', () => {
  let nowMs = 0;
  const limit = new LogRateLimit(() => nowMs);
  const line = 'x'.repeat(1_024);
  const sent = Array.from({ length: 2_000 }, () => limit.take(line)).filter((taken) => taken);
  expect(sent).toHaveLength(1_024);
  nowMs = 1_000;
  expect(limit.take(line)).toEqual({ line, dropped: 2_000 - 1_024 });
  expect(limit.take(line)).toEqual({ line, dropped: 0 });
});
