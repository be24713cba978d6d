// Ends the open streams of sessions that have ended, on whichever node they were ended. Requests check their session themselves; a stream may
// be open for hours.
export interface SessionWatchParts {
  /** Returns the hashes whose sessions are still open. */
  living: (hashes: readonly Buffer[]) => Promise<readonly Buffer[]>;
  everyMs?: number;
}

/** How long the streams of a session continue on other nodes, at most. */
const usualMs = 5_000;

export class SessionWatch {
  readonly #parts: SessionWatchParts;
  /** By hash, as hexadecimal digits: what ends each stream. */
  readonly #streams = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SessionWatchParts) {
    this.#parts = parts;
  }

  /** Calls `end` when the session has ended, until the returned function is called. */
  open(hash: Buffer, end: () => void): () => void {
    const key = hash.toString('hex');
    const streams = this.#streams.get(key) ?? new Set();
    this.#streams.set(key, streams.add(end));
    this.#timer ??= setInterval(() => this.check(), this.#parts.everyMs ?? usualMs).unref();
    return () => {
      streams.delete(end);
      if (streams.size === 0 && this.#streams.get(key) === streams) this.#streams.delete(key);
      if (this.#streams.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** Ends the streams of sessions that have ended. If the database is unavailable, the next check does. */
  check(): void {
    this.#check().catch(() => undefined);
  }

  async #check(): Promise<void> {
    const watched = [...this.#streams.keys()];
    if (watched.length === 0) return;
    const living = await this.#parts.living(watched.map((key) => Buffer.from(key, 'hex')));
    const left = new Set(living.map((hash) => hash.toString('hex')));
    for (const key of watched) {
      if (left.has(key)) continue;
      for (const end of this.#streams.get(key) ?? []) end();
    }
  }
}
