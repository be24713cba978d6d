import type { Run } from '@svc/sdk';

export interface CronFailures {
  cronId: string;
  /** The newest first. */
  runs: Pick<Run, 'status' | 'error'>[];
}

export const isFailed = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'error' || status === 'timeout';

/** The crons that have so many ended runs, of which the newest have all failed. */
export const failedCrons = (newest: readonly CronFailures[], count: number): CronFailures[] =>
  newest.filter(({ runs }) => runs.length === count && runs.every(isFailed));
