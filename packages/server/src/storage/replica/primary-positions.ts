// Positions of the primary with the times at which they were read. They tell how old the data of a replica is without its clock, and
// without waiting for writes: on an idle primary the position stays the same while its time advances.
// It is the flushed position, because an idle primary may keep written positions unflushed for long.
import { hasSameHistory, type PrimaryPosition, type StandbyPosition } from './wal-position.ts';

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
