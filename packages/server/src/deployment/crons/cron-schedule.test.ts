import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstTick, nextTick } from './cron-schedule.ts';

const at = (schedule: string, timezone: string | null = null, end_time: string | null = null) => ({
  schedule,
  timezone,
  end_time,
});

describe('a cron', () => {
  it('fires at the next matching time in its time zone', () => {
    expect(nextTick(at('30 9 * * 1-5'), '2026-11-20T09:30:00Z')).toBe('2026-11-23T09:30:00.000Z');
    expect(nextTick(at('30 9 * * *', 'Asia/Kolkata'), '2026-11-20T09:30:00Z')).toBe(
      '2026-11-21T04:00:00.000Z',
    );
    expect(nextTick(at('0 0 29 2 *'), '2026-11-20T00:00:00Z')).toBe('2028-02-29T00:00:00.000Z');
  });

  it('fires once when the clock is set back, and only at existing times when it is set forward', () => {
    const berlin = at('30 2 * * *', 'Europe/Berlin');
    // 2026-10-25: 02:30 happens twice. 2026-03-29: it does not happen.
    const back = nextTick(berlin, '2026-10-24T12:00:00Z') ?? '';
    expect(back.slice(0, 10)).toBe('2026-10-25');
    expect(nextTick(berlin, back)?.slice(0, 10)).toBe('2026-10-26');
    expect(nextTick(berlin, '2026-03-28T12:00:00Z')?.slice(0, 10)).toBe('2026-03-29');
  });

  it('does not fire after its end', () => {
    expect(nextTick(at('0 * * * *', null, '2026-11-20T10:30:00Z'), '2026-11-20T10:00:00Z')).toBeNull();
  });

  it.each([
    ['0 0 30 2 *', null, null, 'never fires'],
    ['0 * * * *', null, '2020-01-01T00:00:00Z', 'end_time is before'],
    ['* * * * * *', null, null, 'five fields'],
    ['@daily', null, null, 'five fields'],
    ['61 * * * *', null, null, 'not a cron expression'],
    ['a b c d e', null, null, 'not a cron expression'],
    ['0 * * * *', 'Mars/Olympus', null, 'not an IANA time zone'],
  ])('%s in %s until %s is rejected with an explanation', (schedule, timezone, end_time, sentence) => {
    expect(() => firstTick(at(schedule, timezone, end_time), '2026-11-20T00:00:00Z')).toThrow(sentence);
  });

  it.each([
    ['* * * * *', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25T02:00:00.000Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:00:00Z', '2026-10-26T01:30:00.000Z'],
    ['*/10 * * * *', 'America/New_York', '2026-11-01T06:05:00Z', '2026-11-01T07:00:00.000Z'],
  ])('%s in %s, in the hour that is repeated at %s, continues after it', (schedule, zone, now, next) => {
    expect(nextTick(at(schedule, zone), now)).toBe(next);
  });

  it('has an endless sequence of times, at least a minute apart', () => {
    const field = (max: number) => fc.oneof(fc.constant('*'), fc.integer({ min: 0, max }).map(String));
    const zone = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
    );
    // Autumn of 2026 in Berlin, New York and on Lord Howe Island.
    const aroundAChange = fc
      .tuple(
        fc.constantFrom('2026-10-25T01:00:00Z', '2026-11-01T06:00:00Z', '2026-04-04T15:00:00Z'),
        fc.integer({ min: -120, max: 120 }),
      )
      .map(([change, minutes]) => new Date(Date.parse(change) + minutes * 60_000));
    fc.assert(
      fc.property(
        field(59),
        field(23),
        zone,
        fc.oneof(
          fc.date({ min: new Date(0), max: new Date('2090-01-01'), noInvalidDate: true }),
          aroundAChange,
        ),
        (minute, hour, timezone, start) => {
          const schedule = at(`${minute} ${hour} * * *`, timezone);
          const first = nextTick(schedule, start.toISOString()) ?? '';
          const second = nextTick(schedule, first) ?? '';
          expect(Date.parse(first)).toBeGreaterThan(start.getTime());
          expect(Date.parse(second) - Date.parse(first)).toBeGreaterThanOrEqual(60_000);
        },
      ),
      { numRuns: 300 },
    );
  });
});
