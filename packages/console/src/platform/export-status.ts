import type { BulkExport, ExportRun } from '@svc/sdk';

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
