// Reads the positions of the primary and of the replica at intervals. Decides whether the replica is reachable, and knows its lag.
import { pause } from '../../backoff.ts';
import type { Database } from '../postgres/database.ts';
import { originalError } from '../postgres/sql-state.ts';
import {
  checkHistory,
  hasSameHistory,
  primaryPosition,
  type PrimaryPosition,
  type StandbyPosition,
} from './wal-position.ts';
import { ReplicaUnusable } from './fallback.ts';
import type { ReplicaConnections } from './replica-connections.ts';

export interface ReplicaMonitorOptions {
  primary: Pick<Database, 'query'>;
  /** A connection of its own, so that slow reads do not delay it. */
  replica: ReplicaConnections;
  intervalMs: number;
  /** The largest lag with which the replica may be read. */
  lagMaxMs: number;
  /** Called when the replica becomes reachable (without an error) or unreachable. Must not throw. */
  onChange?: ((error: unknown) => void) | undefined;
}

export interface ReplicaState {
  is_reachable: boolean;
  /** At most this, since the positions are read at intervals. */
  lag_seconds: number;
  lag_bytes: number;
}

const unreachable = (): ReplicaUnusable =>
  new ReplicaUnusable('unreachable', 'The replica cannot be reached');

export class ReplicaMonitor implements AsyncDisposable {
  readonly #options: ReplicaMonitorOptions;
  readonly #positions = new PrimaryPositions();
  readonly #startedMs = performance.now();
  readonly #stopping = new AbortController();
  readonly #loops: Promise<unknown>;
  /** Aborted while the replica is unreachable; replaced when it is reachable again. */
  #outage = new AbortController();
  #isKnown = false;
  #last: StandbyPosition | undefined;

  constructor(options: ReplicaMonitorOptions) {
    this.#options = options;
    this.#outage.abort(unreachable());
    this.#loops = Promise.all([this.#repeat(() => this.#readPrimary()), this.#repeat(() => this.#probe())]);
  }

  /** Aborted when the replica becomes unreachable. Throws ReplicaUnusable while it is. */
  reachable(): AbortSignal {
    const { signal } = this.#outage;
    signal.throwIfAborted();
    return signal;
  }

  /** Throws ReplicaUnusable when the replica lags more than the setting allows, or is no standby of the primary. */
  check(position: StandbyPosition): void {
    const { newest } = this.#positions;
    if (newest === undefined) throw new ReplicaUnusable('lag', 'The position of the primary is unknown');
    checkHistory(position, newest);
    const lagMs = performance.now() - (this.#positions.replayedUntil(position) ?? -Infinity);
    if (lagMs > this.#options.lagMaxMs)
      throw new ReplicaUnusable('lag', `The replica is ${Math.round(lagMs)} ms behind the primary`);
  }

  get state(): ReplicaState {
    const last = this.#last ?? { replayed: null };
    const sinceMs = this.#positions.replayedUntil(last) ?? this.#startedMs;
    return {
      is_reachable: !this.#outage.signal.aborted,
      lag_seconds: (performance.now() - sinceMs) / 1_000,
      lag_bytes: this.#positions.bytesBehind(last),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#loops;
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await work();
      await pause(this.#options.intervalMs, signal);
    }
  }

  async #readPrimary(): Promise<void> {
    const atMs = performance.now();
    try {
      this.#positions.record(await primaryPosition(this.#options.primary), atMs);
    } catch {
      // Without newer positions the lag grows, and reads fall back to the primary, which reports its own errors.
    }
  }

  async #probe(): Promise<void> {
    try {
      this.#last = await this.#options.replica.position();
      if (this.#outage.signal.aborted) this.#outage = new AbortController();
      else return;
      this.#options.onChange?.(undefined);
    } catch (error) {
      const isChange = !this.#outage.signal.aborted || !this.#isKnown;
      this.#outage.abort(unreachable());
      if (isChange) this.#options.onChange?.(originalError(error));
    } finally {
      this.#isKnown = true;
    }
  }
}

// Positions of the primary with the times at which they were read. They tell how old the data of a replica is without its clock, and
// without waiting for writes: on an idle primary the position stays the same while its time advances.
// It is the flushed position, because an idle primary may keep written positions unflushed for long.

interface Sample {
  position: PrimaryPosition;
  /** Monotonic milliseconds before the position was read. */
  atMs: number;
}

/** Samples to keep: at one per second, a lag of up to an hour is measured. */
const samplesMax = 3_600;

export class PrimaryPositions {
  #samples: Sample[] = [];

  get newest(): PrimaryPosition | undefined {
    return this.#samples.at(-1)?.position;
  }

  /** `atMs`: monotonic milliseconds before the position was read. */
  record(position: PrimaryPosition, atMs: number): void {
    const last = this.#samples.at(-1);
    if (last && !hasSameHistory(last.position, position)) this.#samples = [];
    if (last && last.position.flushed === position.flushed) this.#samples.pop();
    this.#samples.push({ position, atMs });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  /**
   * A moment whose acknowledged commits the replica has replayed, in monotonic milliseconds: the latest that is known. Undefined when the
   * replica has not replayed the oldest sample.
   */
  replayedUntil({ replayed }: Pick<StandbyPosition, 'replayed'>): number | undefined {
    if (replayed === null) return undefined;
    return this.#samples.findLast(({ position }) => position.flushed <= replayed)?.atMs;
  }

  /** Bytes that the replica has not replayed of the newest sample. */
  bytesBehind({ replayed }: Pick<StandbyPosition, 'replayed'>): number {
    const { flushed } = this.newest ?? {};
    if (flushed === undefined || replayed === null || replayed >= flushed) return 0;
    return Number(flushed - replayed);
  }
}
