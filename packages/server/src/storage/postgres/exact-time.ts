/** A `timestamptz` of a statement as text: ISO 8601 in UTC with microseconds, which dates of JavaScript's have none of. */
export const exactTime = (expression: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
