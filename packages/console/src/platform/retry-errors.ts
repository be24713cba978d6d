// The errors for which open exports are retried.
import type { BulkExport, PlatformClient } from '@svc/sdk';
import { lastErrorOf } from './last-error.ts';

/** How many partition runs of each export are examined. */
const daysMax = 50;

/** The error of each export, in the same order; undefined for one without errors. */
export const readRetryErrors = (
  client: PlatformClient,
  open: readonly BulkExport[],
  signal: AbortSignal,
): Promise<(string | undefined)[]> =>
  Promise.all(
    open.map(async ({ id }) => {
      const query = { status: ['created', 'running'], limit: daysMax };
      const days = await client.exports.runs(id, query, { signal });
      return days.map(lastErrorOf).find((error) => error !== undefined);
    }),
  );
