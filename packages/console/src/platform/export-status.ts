import type { BulkExport, ExportRun, PlatformClient } from '@svc/sdk';

/** As in addresses. The API accepts any case. */
export const exportStatuses = [
  'created',
  'running',
  'completed',
  'failed',
  'cancelled',
  'timedout',
  'intervalscheduled',
] as const;

export type ExportStatus = (typeof exportStatuses)[number];

export const statusLabels: Record<ExportStatus, string> = {
  created: 'waiting',
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  timedout: 'timed out',
  intervalscheduled: 'schedule',
};

/** A schedule has no progress. */
export const progressTones: Record<ExportStatus, 'green' | 'red' | 'blue' | 'grey'> = {
  created: 'blue',
  running: 'blue',
  completed: 'green',
  failed: 'red',
  cancelled: 'grey',
  timedout: 'red',
  intervalscheduled: 'blue',
};

/** The case of a status depends on the configuration of the project. */
export const statusOf = ({ status }: Pick<BulkExport | ExportRun, 'status'>): ExportStatus =>
  status.toLowerCase() as ExportStatus;

/** True for an export that still changes by itself; a schedule does so only at its next export. */
export const isOpenExport = (found: Pick<BulkExport | ExportRun, 'status'>): boolean =>
  ['created', 'running'].includes(statusOf(found));

/** The error of the newest failed attempt of a partition run. */
export const lastErrorOf = ({ errors }: Pick<ExportRun, 'errors'>): string | undefined => {
  const attempts = Object.entries(errors ?? {}).map(
    ([name, message]) => [Number(/\d+$/.exec(name)?.[0] ?? -1), message] as const,
  );
  return attempts.toSorted(([one], [other]) => one - other).at(-1)?.[1];
};

// The errors for which open exports are retried.
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
