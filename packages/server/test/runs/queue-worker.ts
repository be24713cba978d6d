// A worker without executors: it claims runs as a dispatcher does, and the test ends them.
import { randomUUID } from 'node:crypto';
import { ServedQueues } from '../../src/engine/dispatch/run-claims.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import {
  type ClaimedRun,
  type ClaimOptions,
  runLeaseStorage,
} from '../../src/storage/deployment/runs/run-leases.ts';
import { runQueueStorage } from '../../src/storage/deployment/runs/run-queue.ts';
import { claimOf } from './run-rows.ts';

export type Claimed = Pick<ClaimedRun, 'run_id' | 'lease_token'>;

const leaseOf = ({ run_id, lease_token }: Claimed) => ({ id: run_id, lease_token });

export class QueueWorker {
  readonly worker_id = randomUUID();
  readonly #db: Database;
  readonly #served = new ServedQueues();
  readonly #options: Partial<ClaimOptions>;

  constructor(db: Database, options: Partial<ClaimOptions> = {}) {
    this.#db = db;
    this.#options = options;
  }

  async claim(count = 1): Promise<ClaimedRun[]> {
    const options = claimOf(count, {
      worker_id: this.worker_id,
      served: this.#served.list(),
      ...this.#options,
    });
    const { runs } = await runLeaseStorage(this.#db).claim(options);
    for (const run of runs) this.#served.note(run);
    return runs;
  }

  /** What a dispatcher does periodically. */
  async poll(): Promise<void> {
    await runQueueStorage(this.#db).promote();
    await runLeaseStorage(this.#db).recover(3);
  }

  end(run: Claimed): Promise<void> {
    return runLeaseStorage(this.#db).stop(leaseOf(run), 'interrupted', 'as_stored', null);
  }

  release(run: Claimed): Promise<void> {
    const how = { charge: false, lost: false, reason: 'the server stopped' };
    return runLeaseStorage(this.#db).release([leaseOf(run)], how);
  }
}
