// The feed of run changes. While it has readers, this process looks for changes of all runs (change-scan.ts), at most a few times a second. The
// runs that have changed are then read once for each group of readers, by a statement that has the group's filter and access filter.
//
//   waiting ──no position, or too old a one──▶ live ──the client reads slowly──▶ backpressured
//    │   ▲                                      ▲                                  │
//    │   └──────────────────────────────────────┼──────has read everything─────────┘
//    └────position────▶ catching up ────────────┘
//
// Everything happens in one loop: changes before a reader becomes live are read to catch up, or have been read by the scan.
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import type { EventWriter } from '../../../api/handlers.ts';
import { Backoff, pause } from '../../../backoff.ts';
import type { RunStorage } from '../../../storage/deployment/runs.ts';
import { CatchUp } from './catch-up.ts';
import { ChangeScan } from './change-scan.ts';
import { type FeedFilter, FeedGroup, keyOf } from './feed-group.ts';
import { FeedReader } from './feed-reader.ts';

export interface RunFeedOptions {
  runs: Pick<RunStorage, 'listChanged' | 'readChanged'>;
  logger: Pick<Logger, 'error'>;
  /** Milliseconds between reads. */
  everyMs?: number;
  /** Milliseconds after which a reader that was away may have missed changes. */
  replayMs?: number;
  /** Milliseconds between positions of a reader without events. */
  positionMs?: number;
}

const defaults = { everyMs: 500, replayMs: 120_000, positionMs: 15_000 };
/** Milliseconds between reads while readers wait. */
const soonMs = 100;
/** The pause after a read is at least this many times as long as the read. */
const restFactor = 2;
const errorPauseMs = { first: 100, max: 5_000 };
/** Changes before the first reader of a group that the group notes. */
const primedMax = 500;

interface Loop {
  stop: AbortController;
  /** Ends the pause between reads. */
  wake: AbortController;
  done: Promise<void>;
}

export class RunFeed implements AsyncDisposable {
  readonly #options: Required<RunFeedOptions>;
  readonly #groups = new Map<string, FeedGroup>();
  /** Readers that have not begun, or that have read everything after they were backpressured. */
  readonly #waiting = new Map<FeedReader, FeedGroup>();
  #loop: Loop | undefined;
  #isEnded = false;

  constructor(options: RunFeedOptions) {
    this.#options = { ...defaults, ...options };
  }

  get isReading(): boolean {
    return this.#loop?.stop.signal.aborted === false;
  }

  /** Throws when the feed has ended. */
  assertOpen(): void {
    if (this.#isEnded)
      throw new Problem('unavailable', 'The server process is shutting down.', { retryAfterSeconds: 5 });
  }

  /** `lastEventId`: where the reader continues. Returns a function that removes the reader. */
  open(filter: FeedFilter, lastEventId: string | undefined, sink: EventWriter): () => void {
    if (this.#isEnded) {
      sink.end();
      return () => undefined;
    }
    const key = keyOf(filter);
    const group = this.#groups.get(key) ?? new FeedGroup(this.#options.runs, filter);
    this.#groups.set(key, group);
    const reader = new FeedReader(sink, lastEventId, () => this.#await(reader, group));
    group.readers.add(reader);
    this.#await(reader, group);
    return () => {
      reader.leave();
      this.#waiting.delete(reader);
      group.readers.delete(reader);
      if (group.readers.size === 0 && this.#groups.get(key) === group) this.#groups.delete(key);
      if (this.#groups.size === 0) this.#loop?.stop.abort();
    };
  }

  /** Ends all streams: their clients continue at another server process. */
  async end(): Promise<void> {
    this.#isEnded = true;
    for (const { readers } of this.#groups.values()) for (const reader of readers) reader.end();
    this.#loop?.stop.abort();
    await this.#loop?.done;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  #await(reader: FeedReader, group: FeedGroup): void {
    this.#waiting.set(reader, group);
    if (this.isReading) return this.#loop?.wake.abort();
    // A loop that was stopped ends first: a reader must not be in two loops.
    const previous = this.#loop?.done;
    const loop: Loop = { stop: new AbortController(), wake: new AbortController(), done: Promise.resolve() };
    loop.done = this.#run(loop, previous);
    this.#loop = loop;
  }

  async #run(loop: Loop, previous: Promise<void> | undefined): Promise<void> {
    await previous;
    const { runs, everyMs, logger } = this.#options;
    const { signal } = loop.stop;
    const scan = new ChangeScan(runs);
    const catchUp = new CatchUp(runs);
    const backoff = new Backoff(errorPauseMs);
    while (!signal.aborted) {
      const startedMs = performance.now();
      try {
        await this.#read(scan, catchUp, signal);
        backoff.reset();
        const tookMs = performance.now() - startedMs;
        await this.#rest(loop, Math.max(everyMs - tookMs, tookMs * restFactor));
      } catch (error) {
        logger.error({ err: error }, 'failed to read run changes, retrying');
        await pause(backoff.next(), signal);
      }
    }
  }

  /** Pauses; not as long when a reader waits. */
  async #rest(loop: Loop, ms: number): Promise<void> {
    const { signal } = loop.stop;
    await pause(Math.min(soonMs, ms), signal);
    if (this.#waiting.size > 0) return;
    loop.wake = new AbortController();
    await pause(Math.max(0, ms - soonMs), AbortSignal.any([signal, loop.wake.signal]));
  }

  /** Returns early when the loop was stopped: readers that have come since then belong to the next loop. */
  async #read(scan: ChangeScan, catchUp: CatchUp, signal: AbortSignal): Promise<void> {
    const before = scan.readAt;
    const { changed, isComplete, settle } = await scan.read();
    if (signal.aborted) return;
    // Changes of the first pass are older than the first reader.
    if (before !== undefined && changed.length > 0) {
      const ids = changed.map(({ run_id }) => run_id);
      for (const group of this.#groups.values()) {
        if (group.isPrimed) await group.failing(group.send(ids, before));
        if (signal.aborted) return;
      }
    }
    settle();
    const { readAt } = scan;
    if (readAt === undefined) return;
    for (const { sent, readers } of this.#groups.values()) {
      sent.prune(scan.oldest);
      if (isComplete) for (const reader of readers) reader.passed();
    }
    await this.#admit(scan, readAt, catchUp, signal);
    if (signal.aborted) return;
    await catchUp.read();
    if (signal.aborted) return;
    const { positionMs } = this.#options;
    for (const { sent, readers } of this.#groups.values())
      for (const reader of readers) reader.sendPosition(() => sent.eventId(readAt), positionMs);
  }

  /** Begins with the readers that wait. */
  async #admit(scan: ChangeScan, readAt: string, catchUp: CatchUp, signal: AbortSignal): Promise<void> {
    const { replayMs } = this.#options;
    for (const [reader, group] of this.#waiting) {
      if (!group.isPrimed) await group.failing(group.prime(scan.newest(primedMax)));
      if (signal.aborted) return;
      this.#waiting.delete(reader);
      if (reader.isGone) continue;
      const position = reader.begin({ readAt, id: group.sent.eventId(readAt), replayMs });
      if (position !== undefined) catchUp.add({ reader, group, readAt: position, epoch: reader.epoch });
    }
  }
}
