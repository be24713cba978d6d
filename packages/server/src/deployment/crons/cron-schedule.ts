// The times at which a cron fires: five fields, in an IANA time zone. When a clock change skips a local time, the cron fires at the
// change or after it; when a clock change repeats a local time, it fires once.
import { invalid } from '@svc/contract/problem';
import { Cron } from 'croner';

export interface Schedule {
  schedule: string;
  /** UTC when null. */
  timezone: string | null;
  /** ISO 8601. */
  end_time: string | null;
}

const fieldNames = 'minute, hour, day of month, month, day of week';

/** The first tick after a time, in ISO 8601; null when there is none before `end_time`. Throws `invalid`. */
export const nextTick = ({ schedule, timezone, end_time }: Schedule, after: string): string | null => {
  const cron = parse(schedule, timezone);
  const from = new Date(after);
  let next = cron.nextRun(from);
  // While a clock change repeats an hour, croner continues from the first time of the local time, which is over.
  while (next && next <= from) next = cron.nextRun(next);
  if (!next) return null;
  return end_time !== null && next > new Date(end_time) ? null : next.toISOString();
};

/** Throws `invalid` also for a schedule that never fires. */
export const firstTick = (schedule: Schedule, now: string): string => {
  const next = nextTick(schedule, now);
  if (next !== null) return next;
  const never = nextTick({ ...schedule, end_time: null }, now) === null;
  throw never
    ? invalid(['body', 'schedule'], `${JSON.stringify(schedule.schedule)} never fires`)
    : invalid(['body', 'end_time'], 'end_time is before the first tick: the cron would never fire');
};

const parse = (schedule: string, timezone: string | null): Cron => {
  if (schedule.trim().split(/\s+/).length !== 5)
    throw invalid(['body', 'schedule'], `must have five fields: ${fieldNames}`);
  const zone = timezone ?? 'UTC';
  if (!isTimeZone(zone))
    throw invalid(
      ['body', 'timezone'],
      `${JSON.stringify(zone)} is not an IANA time zone such as Europe/Berlin`,
    );
  try {
    return new Cron(schedule.trim(), { timezone: zone, paused: true });
  } catch (cause) {
    const reason =
      cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : 'it cannot be parsed';
    throw invalid(['body', 'schedule'], `is not a cron expression: ${reason}`);
  }
};

const isTimeZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // it throws a RangeError for an unknown zone
  }
};
