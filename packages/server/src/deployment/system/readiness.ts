// Decides whether a load balancer should send requests to this server.
import { Problem } from '@svc/contract/problem';
import type { Dispatcher } from '../../engine/dispatch/dispatcher.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { checkSchema } from '../../storage/schema/migrate.ts';
import { readSchemaFiles } from '../../storage/schema/sql-files.ts';
import type { Storage } from '../../storage/storage.ts';
import { nodeTtlMs, type QueueState } from '../../storage/deployment/workers.ts';

export interface ReadinessParts {
  database: Database;
  /** Why the embedded database is down; undefined while it runs. */
  databaseFailure: () => string | undefined;
  storage: Pick<Storage, 'health' | 'workers'>;
  dispatcher: Dispatcher;
}

type Checked = { ready: true } & QueueState;
/** What this process cannot load, or does not use at the moment. Absent when there are none. */
interface Failures {
  failed_graphs?: string[];
  failed_store_index?: true;
  blocked_executors?: number;
}

/** How long a result is reused: the endpoint is public, and each check writes to the database. */
const freshMs = 1_000;

export class Readiness {
  readonly #parts: ReadinessParts;
  readonly #schemaFiles = readSchemaFiles();
  #looked: { answer: Promise<Checked>; atMs: number } | undefined;

  constructor(parts: ReadinessParts) {
    this.#parts = parts;
  }

  /** Throws `unavailable` while the server stops: until its runs have ended, it still listens. */
  checkStopping(): void {
    if (this.#parts.dispatcher.isDraining) throw new Problem('unavailable', 'The server is stopping');
  }

  /** Throws `unavailable` with the reason. */
  async check(): Promise<Checked & Failures> {
    this.checkStopping();
    this.#checkExecutors();
    if (this.#looked === undefined || performance.now() - this.#looked.atMs > freshMs) {
      const answer = this.#look();
      this.#looked = { answer, atMs: Infinity };
      const note = (): void => void (this.#looked = { answer, atMs: performance.now() });
      answer.then(note, note);
    }
    return { ...(await this.#looked.answer), ...this.#failures() };
  }

  /** Throws `unavailable` while no executor of this process can run a graph. */
  #checkExecutors(): void {
    const { pool, graphs } = this.#parts.dispatcher;
    const { loaded, blocked, failedGraphs } = pool;
    if (loaded === 0)
      throw new Problem('unavailable', 'No executor can run a graph yet: graphs are being loaded');
    if (blocked === loaded)
      throw new Problem(
        'unavailable',
        `No executor can run a graph: the event loop of each (${loaded}) is blocked by a graph`,
      );
    if (failedGraphs.length > 0 && failedGraphs.length === graphs.length)
      throw new Problem(
        'unavailable',
        `No graph can be loaded (${failedGraphs.join(', ')}): the log has the reasons`,
      );
  }

  #failures(): Failures {
    const { blocked, failedGraphs, isStoreIndexFailed } = this.#parts.dispatcher.pool;
    return {
      ...(blocked > 0 && { blocked_executors: blocked }),
      ...(failedGraphs.length > 0 && { failed_graphs: failedGraphs }),
      ...(isStoreIndexFailed && { failed_store_index: true }),
    };
  }

  async #look(): Promise<Checked> {
    const { database, databaseFailure, storage, dispatcher } = this.#parts;
    const failure = databaseFailure();
    if (failure !== undefined) throw new Problem('unavailable', failure);
    await storage.health.check();
    await checkSchema(database, this.#schemaFiles);
    const state = await storage.workers.queue(nodeTtlMs(dispatcher.leaseMs));
    if (state.workers === 0)
      throw new Problem('unavailable', 'There is no live worker: runs would be accepted, but not executed');
    return { ready: true, ...state };
  }
}
