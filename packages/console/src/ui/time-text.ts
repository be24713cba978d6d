// Times in the time zone of the browser, or in UTC if the person has chosen so. The title of each time also has it as the server wrote it, in
// UTC.
import { chosenTimeZone } from './preferences.ts';

const minutes: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};

const format = (
  at: string,
  options: Intl.DateTimeFormatOptions,
  timeZone: string | undefined = chosenTimeZone(),
): string => new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(Date.parse(at));

/** `26 Nov 2026, 14:05:59 GMT+1`. Another time zone is for tests. */
export const timeText = (at: string, timeZone?: string): string =>
  format(at, { ...minutes, second: '2-digit', timeZoneName: 'short' }, timeZone);

/** `26 Nov 2026, 14:05`, for narrow columns. */
export const minuteText = (at: string): string => format(at, minutes);

/** The time, and below it the same time in UTC. */
export const timeTitle = (at: string, timeZone?: string): string => `${timeText(at, timeZone)}\nUTC: ${at}`;

/** What a field for date and time has for a time: `2026-11-26T14:05:59.25`, in the chosen time zone and without it. */
export const fieldTime = (at: string): string => {
  const date = new Date(at);
  const offsetMinutes = chosenTimeZone() === 'UTC' ? 0 : date.getTimezoneOffset();
  const text = new Date(date.getTime() - offsetMinutes * 60_000).toISOString();
  return text.replace(/(?::00)?(?:\.0*)?Z$/, '').replace(/Z$/, '');
};

/** The time that a field has, in UTC. A text that is no time is returned as it is: the server explains what is wrong with it. */
export const timeOfField = (text: string): string => {
  const ms = Date.parse(chosenTimeZone() === 'UTC' ? `${text}Z` : text);
  return Number.isNaN(ms) ? text : new Date(ms).toISOString().replace('.000Z', 'Z');
};

/** The message of the server about a pending run, with its time in the chosen time zone. */
export const waitingText = ({ message, until }: { message: string; until?: string | undefined }): string =>
  until === undefined ? message : message.replace(until, timeText(until));
