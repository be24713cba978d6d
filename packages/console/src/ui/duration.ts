const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `412 ms`, `4.2 s`, `3 min 5 s`. A negative one, of clocks that differ, is 0. */
export const duration = (given: number): string => {
  const ms = Math.max(0, given);
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${(ms / second).toFixed(1)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ${Math.floor((ms % minute) / second)} s`;
  if (ms < day) return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`;
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`;
};

/** `just now`, `5 min ago`. */
export const age = (ms: number): string => {
  if (ms < 5 * second) return 'just now';
  if (ms < minute) return `${Math.floor(ms / second)} s ago`;
  if (ms < hour) return `${Math.floor(ms / minute)} min ago`;
  if (ms < day) return `${Math.floor(ms / hour)} h ago`;
  return `${Math.floor(ms / day)} d ago`;
};

/** `in 5 min`, `now` for what is due. */
export const ahead = (ms: number): string => {
  if (ms < second) return 'now';
  if (ms < minute) return `in ${Math.floor(ms / second)} s`;
  if (ms < hour) return `in ${Math.floor(ms / minute)} min`;
  if (ms < day) return `in ${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`;
  // Rounded: a month from now, seen a second later, is not 29 days and 23 hours.
  const hours = Math.round(ms / hour);
  return hours % 24 === 0 ? `in ${hours / 24} d` : `in ${Math.floor(hours / 24)} d ${hours % 24} h`;
};
