// Times of buckets, in the chosen time zone and with a clock of 24 hours.
import { chosenTimeZone } from '../ui/preferences.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

export interface BucketText {
  /** `26 Nov, 14:05–14:06`; days where a bucket is at least a day. */
  bucket: (fromMs: number) => string;
  /** The tick of an axis. Midnight is the day: `26 Nov`. */
  tick: (ms: number, stepMs: number) => string;
}

const clockOf = (timeZone: string | undefined, seconds: boolean): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: timeZone ?? chosenTimeZone(),
    hour: '2-digit',
    minute: '2-digit',
    ...(seconds ? { second: '2-digit' } : {}),
    hourCycle: 'h23',
  });

const dayOf = (timeZone: string | undefined): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: timeZone ?? chosenTimeZone(),
    day: 'numeric',
    month: 'short',
  });

/** `26 Nov, 14:05`. */
export const momentText = (ms: number, timeZone?: string): string =>
  `${dayOf(timeZone).format(ms)}, ${clockOf(timeZone, false).format(ms)}`;

/** Another time zone is for tests. */
export const bucketText = (bucketMs: number, timeZone?: string): BucketText => {
  const day = dayOf(timeZone);
  const minutes = clockOf(timeZone, false);
  const seconds = clockOf(timeZone, true);
  const clock = bucketMs < minuteMs ? seconds : minutes;
  return {
    bucket: (fromMs) => {
      const toMs = fromMs + bucketMs;
      if (bucketMs < dayMs) {
        const [first, last] = [day.format(fromMs), day.format(toMs)];
        // The midnight at the end belongs to the day that it ends.
        const isSameDay = first === last || minutes.format(toMs) === '00:00';
        return `${first}, ${clock.format(fromMs)}–${isSameDay ? '' : `${last}, `}${clock.format(toMs)}`;
      }
      const [first, last] = [day.format(fromMs), day.format(toMs - 1)];
      return first === last ? first : `${first} – ${last}`;
    },
    tick: (ms, stepMs) => {
      if (stepMs >= dayMs || minutes.format(ms) === '00:00') return day.format(ms);
      return (stepMs < minuteMs ? seconds : minutes).format(ms);
    },
  };
};

/** `26 Nov, 14:05–14:06`; undefined without a range. */
export const rangeText = (
  from: string | undefined,
  to: string | undefined,
  timeZone?: string,
): string | undefined => {
  const [fromMs, toMs] = [Date.parse(from ?? ''), Date.parse(to ?? '')];
  if (fromMs < toMs && toMs - fromMs < dayMs) return bucketText(toMs - fromMs, timeZone).bucket(fromMs);
  const ends = [
    ...(from === undefined ? [] : [`from ${momentText(fromMs, timeZone)}`]),
    ...(to === undefined ? [] : [`before ${momentText(toMs, timeZone)}`]),
  ];
  return ends.length > 0 ? ends.join(', ') : undefined;
};
