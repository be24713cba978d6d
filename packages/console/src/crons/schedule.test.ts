import { describe, expect, it } from 'vitest';
import { scheduleWords } from './schedule.tsx';

describe('a schedule in words', () => {
  it.each([
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday'],
    ['*/15 * * * *', 'Every 15 minutes'],
    [' 30 17 1 * * ', 'At 17:30, on day 1 of the month'],
    ['*/5 * * * * *', 'Every 5 seconds'],
    ['0 12 * * 5#2', 'At 12:00, on the second Friday of the month'],
  ])('%s', (schedule, words) => {
    expect(scheduleWords(schedule)).toBe(words);
  });

  it.each(['', '0 9', '0 25 * * *', 'every day'])('does not exist for %j', (schedule) => {
    expect(scheduleWords(schedule)).toBeUndefined();
  });
});
