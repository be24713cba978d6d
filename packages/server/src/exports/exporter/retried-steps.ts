// Repeats the database operations of an exporter while the database is unavailable. All of them are idempotent.
import { retry } from '../../backoff.ts';
import { isUnavailable } from '../../storage/postgres/sql-state.ts';
import type { ExportStepStorage } from '../../storage/exports/export-steps.ts';

/**
 * `forMs` is longer than the default lease: usually the server process stops the exporter earlier, because its lease has ended. Errors are
 * not logged here: the outcome of the exporter has the last one.
 */
const times = { pauseMs: { first: 200, max: 400 }, forMs: 120_000 };

export const retried =
  <Args extends unknown[], T>(
    step: (...args: Args) => Promise<T>,
    signal: AbortSignal,
  ): ((...args: Args) => Promise<T>) =>
  (...args: Args): Promise<T> =>
    retry(() => step(...args), { ...times, when: isUnavailable, signal });

export const retriedSteps = (steps: ExportStepStorage, signal: AbortSignal): ExportStepStorage => ({
  startPartitionRun: retried((lease) => steps.startPartitionRun(lease), signal),
  beginFile: retried((...args) => steps.beginFile(...args), signal),
  commitFile: retried((...args) => steps.commitFile(...args), signal),
  skipFile: retried((...args) => steps.skipFile(...args), signal),
  holds: retried((lease) => steps.holds(lease), signal),
  files: retried((...args) => steps.files(...args), signal),
  completeExport: retried((...args) => steps.completeExport(...args), signal),
  hasEndedOtherwise: (lease) => steps.hasEndedOtherwise(lease),
});
