// Bounds the events of all runs of an executor that wait to be sent or stored. A graph emits events without waiting, so
// when the bound is exceeded, the run with the most waiting bytes drops some.

/** The waiting events of one run. */
export interface WaitingEvents {
  /** Bytes that can be dropped. */
  readonly droppable: number;
  /** Drops about that many bytes, oldest events first. Returns the number of dropped bytes. */
  dropOldest(bytes: number): number;
}

const mb = 1024 * 1024;

/** For all runs of an executor. */
const waitingBytesMax = 64 * mb;
/** Bytes that are dropped in addition to the excess: otherwise every further event would search all runs again. */
const marginBytes = mb;

export class EventBudget {
  readonly bytesMax: number;
  readonly #runs = new Set<WaitingEvents>();
  /** Bytes of events that wait now, and their maximum so far. */
  bytes = 0;
  peakBytes = 0;

  constructor(bytesMax = waitingBytesMax) {
    this.bytesMax = bytesMax;
  }

  join(run: WaitingEvents): void {
    this.#runs.add(run);
  }

  leave(run: WaitingEvents): void {
    this.#runs.delete(run);
  }

  /** An event has been added to a run. */
  add(bytes: number): void {
    this.bytes += bytes;
    while (this.bytes > this.bytesMax && this.#dropSome());
    this.peakBytes = Math.max(this.peakBytes, this.bytes);
  }

  /** Events have left their run. */
  remove(bytes: number): void {
    this.bytes -= bytes;
  }

  /** False when there is nothing to drop: a single event may be larger than the bound. */
  #dropSome(): boolean {
    let largest: WaitingEvents | undefined;
    for (const run of this.#runs) if (!largest || run.droppable > largest.droppable) largest = run;
    if (!largest || largest.droppable === 0) return false;
    this.bytes -= largest.dropOldest(this.bytes - this.bytesMax + Math.min(marginBytes, this.bytesMax / 16));
    return true;
  }
}
