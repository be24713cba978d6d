// A dead worker is a worker whose process has ended without a report, for example by kill -9. This loop finds the dead workers of this
// machine and ends the leases of their runs, so that these runs continue at once. Other runs continue when their leases end: those of dead
// workers on other machines, and those with a charged attempt, which would otherwise crash one server after the other within seconds.
import type { Logger } from 'pino';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import { hasEnded } from '../../config/process-identity.ts';
import type { WorkerStorage } from '../../storage/deployment/workers.ts';

interface WorkersOfMachine {
  workers: Pick<WorkerStorage, 'listOpen' | 'end'>;
  /** The worker that checks the others. */
  worker_id: string;
  machine: string;
}

export interface DeadWorkersOptions extends WorkersOfMachine {
  pollMs: number;
  /** Called after leases were ended. */
  onLeasesEnded: () => void;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Ends the leases of dead workers. Returns the names of the dead workers, and the number of leases that were ended. */
export const endLeases = async ({
  workers,
  worker_id,
  machine,
}: WorkersOfMachine): Promise<{ names: string[]; runs: number }> => {
  const dead = (await workers.listOpen(machine, worker_id)).filter(hasEnded);
  if (dead.length === 0) return { names: [], runs: 0 };
  const runs = await workers.end(dead.map((worker) => worker.worker_id));
  return { names: dead.map(({ name }) => name), runs };
};

export class DeadWorkers implements AsyncDisposable {
  readonly #options: DeadWorkersOptions;
  /** A loop of its own: the update of a run may wait for a lock, and lost runs of other workers must not wait for that. */
  readonly #loop: WorkerLoop;

  constructor(options: DeadWorkersOptions) {
    this.#options = options;
    const { pollMs, logger } = options;
    this.#loop = new WorkerLoop({
      task: 'end leases of dead workers',
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
    const { onLeasesEnded, logger } = this.#options;
    const { names, runs } = await endLeases(this.#options);
    if (runs > 0) {
      logger.warn({ workers: names, runs }, 'ended the leases of dead workers');
      onLeasesEnded();
    } else if (names.length > 0) {
      logger.info({ workers: names }, 'found dead workers without runs');
    }
  }
}
