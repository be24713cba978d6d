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
  /** What this process cannot load, or does not use at the moment. */
  failures: () => Failures;
  queue: () => Promise<QueueState>;
}

type Checked = { ready: true } & QueueState;
/** Absent when there are none. */
interface Failures {
  failed_graphs?: string[];
  failed_store_index?: true;
  blocked_executors?: number;
}

/** How long a result is reused: the endpoint is public, and each check writes to the database. */
const freshMs = 1_000;

export class Readiness {
  readonly #parts: ReadinessParts;
  #looked: { answer: Promise<Checked>; atMs: number } | undefined;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Throws `unavailable` while the server stops: until its runs have ended, it still listens. */
  checkStopping(): void {
    if (this.#parts.isDraining()) throw new Problem('unavailable', 'The server is stopping');
  }

  /** Throws `unavailable` with the reason. */
  async check(): Promise<Checked & Failures> {
    this.checkStopping();
    this.#parts.checkExecutors();
    if (this.#looked === undefined || performance.now() - this.#looked.atMs > freshMs) {
      const answer = this.#look();
      this.#looked = { answer, atMs: Infinity };
      const note = (): void => void (this.#looked = { answer, atMs: performance.now() });
      answer.then(note, note);
    }
    return { ...(await this.#looked.answer), ...this.#parts.failures() };
  }

  async #look(): Promise<Checked> {
    const { checkDatabase, checkSchema, queue } = this.#parts;
    await checkDatabase();
    await checkSchema();
    const state = await queue();
    if (state.workers === 0)
      throw new Problem('unavailable', 'There is no live worker: runs would be accepted, but not executed');
    return { ready: true, ...state };
  }
}
