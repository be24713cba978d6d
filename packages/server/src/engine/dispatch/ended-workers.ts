// Finds workers of this machine whose processes have ended without a report, for example by kill -9, and ends the leases of their runs.
// So these runs continue at once. Runs of a worker on another machine continue when their leases end.
import type { Logger } from 'pino';
import { isProcessAlive } from '../../process-identity.ts';
import type { WorkerStorage } from '../../storage/deployment/workers.ts';

export interface EndedWorkersOptions {
  workers: Pick<WorkerStorage, 'listOpen' | 'end'>;
  worker_id: string;
  /** Null where the processes of other workers cannot be checked. */
  machine: string | null;
  logger: Pick<Logger, 'warn'>;
}

export class EndedWorkers {
  readonly #options: EndedWorkersOptions;

  constructor(options: EndedWorkersOptions) {
    this.#options = options;
  }

  /** Ends the leases of workers whose processes have ended. */
  async endLeases(): Promise<void> {
    const { workers, worker_id, machine, logger } = this.#options;
    if (machine === null) return;
    const open = await workers.listOpen(machine, worker_id);
    const ended = open.filter(({ process }) => !isProcessAlive({ machine, process }));
    if (ended.length === 0) return;
    const runs = await workers.end(ended.map((worker) => worker.worker_id));
    logger.warn(
      { workers: ended.map(({ name }) => name), runs },
      'processes of workers have ended without a report; their runs continue here or on another worker',
    );
  }
}
