// The reason that /ready gives while no connection to the database can be opened.
import { expect, it } from 'vitest';
import { databaseHealth } from '../../src/storage/postgres/health.ts';
import type { Database } from '../../src/storage/postgres/database.ts';

const failing = (code: string): Database =>
  ({
    transact: () => new Promise(() => undefined),
    outage: () => ({ sinceMs: performance.now() - 5_000, error: Object.assign(new Error('no'), { code }) }),
  }) as unknown as Database;

it.each([
  ['28P01', 'the password of DATABASE_URI is wrong'],
  ['3D000', 'the database of DATABASE_URI does not exist'],
  ['ECONNREFUSED', 'ECONNREFUSED'],
])('the reason for %s is "%s"', async (code, reason) => {
  await expect(databaseHealth(failing(code)).check()).rejects.toThrow(
    `Connecting to the database for 5 s (${reason})`,
  );
});
