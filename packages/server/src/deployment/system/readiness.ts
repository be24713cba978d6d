// Whether requests should be sent here.
import { Problem } from '@svc/contract/problem';
import type { QueueState } from '../../storage/workers.ts';

export interface ReadinessParts {
  isDraining: () => boolean;
  /** Rejects when the schema is not the one that this server works with. */
  checkSchema: () => Promise<void>;
  queue: () => Promise<QueueState>;
}

export class Readiness {
  readonly #parts: ReadinessParts;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Throws unavailable with what is amiss. */
  async check(): Promise<
    { ready: true } & Pick<QueueState, 'workers' | 'pending' | 'running' | 'oldest_pending_ms'>
  > {
    const { isDraining, checkSchema, queue } = this.#parts;
    if (isDraining()) throw new Problem('unavailable', 'The server is stopping');
    await checkSchema();
    const { workers, pending, running, oldest_pending_ms } = await queue();
    if (workers === 0)
      throw new Problem('unavailable', 'There is no live worker: runs would be accepted, and wait');
    return { ready: true, workers, pending, running, oldest_pending_ms };
  }
}
