// Times in the bodies of requests, as the database reads them.
import { invalid } from '@svc/contract/problem';
import { toTime } from '../time.ts';

/** Throws invalid for years and offsets that the schema accepts and PostgreSQL does not. */
export const timeOf = (field: string, text: string): string => {
  const time = toTime(text);
  if (time === undefined)
    throw invalid(['body', field], `${field} must be a time, such as 2026-01-31T12:00:00Z`);
  return time;
};

/** The object with the times of these fields as the database reads them. Throws invalid as `timeOf` does. */
export const withTimes = <Field extends string, T extends { [Name in Field]?: string | undefined }>(
  request: T,
  fields: readonly Field[],
): T => {
  const times = fields.flatMap((field) => {
    const text = request[field];
    return text === undefined ? [] : [[field, timeOf(field, text)] as const];
  });
  return { ...request, ...Object.fromEntries(times) };
};
