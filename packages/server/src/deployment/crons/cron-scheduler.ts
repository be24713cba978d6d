// Fires due crons. Every node may run a scheduler: the node that locks a cron first fires it.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import { TickFailed, type CronStorage } from '../../storage/deployment/crons.ts';
import { isUnavailable } from '../../storage/postgres/sql-state.ts';
import { planTick } from './cron-service.ts';

export interface CronSchedulerOptions {
  crons: CronStorage;
  pollMs: number;
  logger: Logger;
}

/** Starts at once. */
export const startCrons = ({ crons, pollMs, logger }: CronSchedulerOptions): WorkerLoop => {
  /** False when no cron is due. A cron that cannot fire is disabled, unless the database is the reason. */
  const fireOne = async (): Promise<boolean> => {
    try {
      return await crons.fire(planTick);
    } catch (error) {
      if (!(error instanceof TickFailed) || isTransient(error.cause)) throw error;
      logger.error({ err: error, cron_id: error.cron_id }, 'a cron cannot fire and is disabled');
      const reason = error.cause instanceof Problem ? error.cause.message : 'Its run could not be created';
      await crons.disable(error.cron_id, reason);
      return true;
    }
  };
  const loop = new WorkerLoop({ task: 'fire crons', claim: fireOne, pollMs, logger });
  loop.wake();
  return loop;
};

/** An unavailable database, a serialization failure or a deadlock. */
const isTransient = (error: unknown): boolean =>
  isUnavailable(error) || ['40001', '40P01'].includes((error as { code?: string } | null)?.code ?? '');
