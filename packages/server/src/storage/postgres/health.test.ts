import { expect, it } from 'vitest';
import { noAnswer } from './health.ts';

const outage = (code: string) => ({ sinceMs: 1_000, error: Object.assign(new Error('no'), { code }) });

it.each([
  ['28P01', 'the password of DATABASE_URI is wrong'],
  ['3D000', 'the database of DATABASE_URI does not exist'],
  ['ECONNREFUSED', 'ECONNREFUSED'],
])('the reason for %s is "%s"', (code, reason) => {
  expect(noAnswer(outage(code), 6_000).message).toBe(`Connecting to the database for 5 s (${reason})`);
});
