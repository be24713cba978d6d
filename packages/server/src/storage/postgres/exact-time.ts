/** SQL for a `timestamptz` as text: ISO 8601 in UTC with microseconds, which JavaScript's Date does not have. */
export const exactTime = (expression: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
