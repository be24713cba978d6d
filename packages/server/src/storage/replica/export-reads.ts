// Reads of one attempt of an export partition run. The replica is used when it has replayed everything that the primary had written at
// the start of the attempt, which includes all rows of the export. Until then the attempt waits, for a limited time.
//
//   waiting ──replayed──▶ replica ──any failure──▶ primary
//      └──────time limit, or any failure─────────────▲
import { type TimeLimit, timeLimit } from '../../abort.ts';
import { pause } from '../../backoff.ts';
import type { Database, Transactions } from '../postgres/database.ts';
import { checkHistory, hasReplayed, type PrimaryPosition, type StandbyPosition } from './wal-position.ts';
import { type FallbackReason, fallbackReasonOf, ReplicaUnusable } from './fallback.ts';
import type { ReplicaConnections } from './replica-connections.ts';

export interface ExportReadParts {
  primary: Transactions;
  replica: ReplicaConnections;
  /** The position of the primary at the start of the attempt. A later commit of the attempt has flushed it. */
  start: PrimaryPosition;
  /** How long the attempt waits for the replica. */
  waitMs: number;
  /** Time limit of a page on a replica that does not answer. */
  pageMs?: number;
  onRead: () => void;
  onFallback: (reason: FallbackReason) => void;
  signal: AbortSignal;
}

const pollMs = { first: 20, max: 500 };
/** Of one page, which is at most two statements. PostgreSQL limits their time; this is for a machine that does not answer. */
const pageDefaultMs = 75_000;

export class ExportReads implements Transactions {
  readonly #parts: ExportReadParts;
  #source: 'waiting' | 'replica' | 'primary' = 'waiting';

  constructor(parts: ExportReadParts) {
    this.#parts = parts;
  }

  /** Once a read has fallen back, all later ones of the attempt use the primary. */
  async transact<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    const { primary, replica, pageMs = pageDefaultMs, onRead, onFallback, signal } = this.#parts;
    if (this.#source !== 'primary') {
      let limit: TimeLimit | undefined;
      try {
        if (this.#source === 'waiting') await this.#untilReplayed();
        this.#source = 'replica';
        limit = timeLimit(pageMs, signal);
        const result = await replica.transact((position) => this.#check(position), work, limit.signal);
        onRead();
        return result;
      } catch (error) {
        signal.throwIfAborted();
        const reason = limit?.isOver === true ? 'unreachable' : fallbackReasonOf(error);
        if (reason === undefined) throw error;
        this.#source = 'primary';
        onFallback(reason);
      } finally {
        limit?.[Symbol.dispose]();
      }
    }
    return primary.transact(work);
  }

  #check(position: StandbyPosition): void {
    const { start } = this.#parts;
    checkHistory(position, start);
    if (!hasReplayed(position, start.inserted))
      throw new ReplicaUnusable('lag', 'The replica has not replayed the start of the attempt');
  }

  /** Throws ReplicaUnusable after the time limit. */
  async #untilReplayed(): Promise<void> {
    const { replica, waitMs, signal } = this.#parts;
    const untilMs = performance.now() + waitMs;
    for (let pauseMs = pollMs.first; ; pauseMs = Math.min(pollMs.max, pauseMs * 2)) {
      signal.throwIfAborted();
      try {
        return this.#check(await replica.position());
      } catch (error) {
        if (fallbackReasonOf(error) !== 'lag' || performance.now() >= untilMs) throw error;
      }
      await pause(pauseMs, signal);
    }
  }
}
