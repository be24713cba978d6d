import type { BulkExport } from '@svc/sdk';
import { statusOf } from '../platform/export-status.ts';

/** What the bar of an export shows. */
export interface Share {
  value: number;
  max: number;
  /** `97 %`; undefined where the number of days says more. */
  text: string | undefined;
}

/**
 * The API's percentage is the written part of the time span: it is high where most of the time has no rows. An export that
 * has ended without all of its files shows its completed days instead.
 */
export const shareOf = (found: Pick<BulkExport, 'status' | 'progress'>): Share => {
  const { percent, runs_completed: completed, runs_total: total } = found.progress;
  return ['failed', 'timedout', 'cancelled'].includes(statusOf(found))
    ? { value: completed, max: Math.max(1, total), text: undefined }
    : { value: percent, max: 100, text: `${Math.floor(percent)} %` };
};
