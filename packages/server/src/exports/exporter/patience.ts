// What an exporter asks while the database is away for a moment: it is asked again, for as long as the lease may hold. Each of
// these may be asked twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import type { ExportStepStorage } from '../../storage/exports/export-steps.ts';

const pauseMs = 200;
/** Longer than leases are; whoever holds this one ends the work before. */
const patienceMs = 120_000;

/** The same, asked again from when it has failed first. */
export const patient =
  <Args extends unknown[], T>(
    ask: (...args: Args) => Promise<T>,
    signal: AbortSignal,
  ): ((...args: Args) => Promise<T>) =>
  async (...args: Args): Promise<T> => {
    for (let untilMs = Infinity; ;) {
      try {
        return await ask(...args);
      } catch (error) {
        const isAway = error instanceof Problem && error.code === 'unavailable';
        untilMs = Math.min(untilMs, performance.now() + patienceMs);
        if (!isAway || performance.now() > untilMs) throw error;
        signal.throwIfAborted();
        await sleep(pauseMs);
      }
    }
  };

export const patientLeases = (leases: ExportStepStorage, signal: AbortSignal): ExportStepStorage => ({
  startPartitionRun: patient((lease) => leases.startPartitionRun(lease), signal),
  beginFile: patient((...said) => leases.beginFile(...said), signal),
  commitFile: patient((...said) => leases.commitFile(...said), signal),
  skipFile: patient((...said) => leases.skipFile(...said), signal),
  holds: patient((lease) => leases.holds(lease), signal),
  files: patient((...asked) => leases.files(...asked), signal),
  completeExport: patient((...said) => leases.completeExport(...said), signal),
  hasEndedOtherwise: (lease) => leases.hasEndedOtherwise(lease),
});
