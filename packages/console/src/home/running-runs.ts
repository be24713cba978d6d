// Runs that started more than ten minutes ago and are still running.
import type { Client, Run } from '@svc/sdk';
import type { StuckRun } from './pending-runs.ts';

const longMs = 10 * 60_000;
export const runningMax = 50;

type CreatedRun = StuckRun & Pick<Run, 'started_at'>;
export type RunningRun = StuckRun & { started_at: string };

/** The runs that started before this time, with the time of their start. A run that has waited for long may have started just now. */
export const startedBefore = (runs: readonly CreatedRun[], before: string): RunningRun[] =>
  runs.flatMap(({ started_at: started, ...run }) =>
    started !== undefined && started < before ? [{ ...run, started_at: started }] : [],
  );

export const readRunning = async (client: Client, signal: AbortSignal): Promise<RunningRun[]> => {
  const before = new Date(Date.now() - longMs).toISOString();
  const created = await client.runs.search(
    {
      status: 'running',
      created_before: before,
      sort_order: 'asc',
      limit: runningMax,
      select: ['run_id', 'thread_id', 'assistant_id', 'created_at', 'started_at'],
    },
    { signal },
  );
  return startedBefore(created, before);
};
