// Finds workers of this machine whose processes have ended without a report, for example by kill -9, and ends the leases of their runs.
// So these runs continue at once. Runs of a worker on another machine continue when their leases end.
import type { Logger } from 'pino';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import { hasEnded } from '../../process-identity.ts';
import type { WorkerStorage } from '../../storage/deployment/workers.ts';

interface WorkersOfMachine {
  workers: Pick<WorkerStorage, 'listOpen' | 'end'>;
  /** The worker that checks the others. */
  worker_id: string;
  machine: string;
}

export interface EndedWorkersOptions extends WorkersOfMachine {
  pollMs: number;
  /** Called when leases were ended. */
  onEnded: () => void;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Ends the leases of workers whose processes have ended. Returns the names of these workers, and the number of their runs. */
export const endLeases = async ({
  workers,
  worker_id,
  machine,
}: WorkersOfMachine): Promise<{ names: string[]; runs: number }> => {
  const ended = (await workers.listOpen(machine, worker_id)).filter(hasEnded);
  if (ended.length === 0) return { names: [], runs: 0 };
  const runs = await workers.end(ended.map((worker) => worker.worker_id));
  return { names: ended.map(({ name }) => name), runs };
};

export class EndedWorkers implements AsyncDisposable {
  readonly #options: EndedWorkersOptions;
  /** A loop of its own: the update of a run may wait for a lock, and lost runs of other workers must not wait for that. */
  readonly #loop: WorkerLoop;

  constructor(options: EndedWorkersOptions) {
    this.#options = options;
    const { pollMs, logger } = options;
    this.#loop = new WorkerLoop({
      task: 'end leases of workers that have ended',
      claim: () => this.#check(),
      pollMs,
      logger,
    });
    this.#loop.wake();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop.stop();
  }

  async #check(): Promise<void> {
    const { onEnded, logger } = this.#options;
    const { names, runs } = await endLeases(this.#options);
    if (runs > 0) {
      logger.warn({ workers: names, runs }, 'ended the leases of workers whose processes have ended');
      onEnded();
    } else if (names.length > 0) {
      logger.info({ workers: names }, 'processes of workers have ended without a report');
    }
  }
}
