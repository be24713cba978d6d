// Decides whether a load balancer should send requests to this server.
import { Problem } from '@svc/contract/problem';
import type { QueueState } from '../../storage/deployment/workers.ts';

export interface ReadinessParts {
  isDraining: () => boolean;
  /** Rejects with `unavailable` when the database is unreachable or not writable. */
  checkDatabase: () => Promise<void>;
  /** Rejects when the schema does not fit this release. */
  checkSchema: () => Promise<void>;
  /** Throws `unavailable` while no executor of this process can run a graph. */
  checkExecutors: () => void;
  /** Ids of graphs of this process that cannot be loaded. */
  failedGraphs: () => string[];
  queue: () => Promise<QueueState>;
}

type Checked = { ready: true } & Pick<QueueState, 'workers' | 'pending' | 'running' | 'oldest_pending_ms'>;
type Ready = Checked & { failed_graphs?: string[] };

/** How long a result is reused: the endpoint is public, and each check writes to the database. */
const freshMs = 1_000;

export class Readiness {
  readonly #parts: ReadinessParts;
  #looked: { answer: Promise<Checked>; atMs: number } | undefined;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Throws `unavailable` with the reason. */
  async check(): Promise<Ready> {
    const { isDraining, checkExecutors } = this.#parts;
    if (isDraining()) throw new Problem('unavailable', 'The server is stopping');
    checkExecutors();
    if (this.#looked === undefined || performance.now() - this.#looked.atMs > freshMs) {
      const answer = this.#look();
      this.#looked = { answer, atMs: Infinity };
      const note = (): void => void (this.#looked = { answer, atMs: performance.now() });
      answer.then(note, note);
    }
    const failed_graphs = this.#parts.failedGraphs();
    const answer = await this.#looked.answer;
    return failed_graphs.length === 0 ? answer : { ...answer, failed_graphs };
  }

  async #look(): Promise<Checked> {
    const { checkDatabase, checkSchema, queue } = this.#parts;
    await checkDatabase();
    await checkSchema();
    const { workers, pending, running, oldest_pending_ms } = await queue();
    if (workers === 0)
      throw new Problem('unavailable', 'There is no live worker: runs would be accepted, but not executed');
    return { ready: true, workers, pending, running, oldest_pending_ms };
  }
}
