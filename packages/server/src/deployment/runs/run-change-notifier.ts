// Notifies readers that runs have changed. While there are readers, this process reads the changes of all runs once a second. The changed runs are
// then filtered once for all readers with the same access filter. Notifications have no positions: a reader that may have missed changes
// gets a notification without threads, and reads everything again. A NOTIFY in each transaction instead would make commits wait for each other.
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import type { EventSink } from '../../api/handlers.ts';
import { onAbort } from '../../abort.ts';
import { pause, retry } from '../../backoff.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import { isUnavailable } from '../../storage/postgres/sql-state.ts';

export interface RunChangeNotifierOptions {
  runs: Pick<RunStorage, 'listChanged' | 'listThreads'>;
  logger: Pick<Logger, 'error'>;
  /** Waits between reads. */
  wait?: typeof pause;
}

interface Reader {
  access: RowFilter;
  sink: EventSink;
  end: () => void;
  fail: (error: unknown) => void;
  /** True when the reader may have missed changes. */
  isBehind: boolean;
  /** True until the client has read what it was sent. */
  isSlow: boolean;
}

/** The least time between two notifications of a reader. */
const everyMs = 1_000;
const errorPauseMs = { first: 100, max: 5_000 };
/** A notification of more threads names none. */
const threadsMax = 100;

export class RunChangeNotifier implements AsyncDisposable {
  readonly #options: Required<RunChangeNotifierOptions>;
  readonly #readers = new Set<Reader>();
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: RunChangeNotifierOptions) {
    this.#options = { wait: pause, ...options };
  }

  /** Throws after the end. */
  assertOpen(): void {
    if (this.#stop.signal.aborted)
      throw new Problem('unavailable', 'The server process is shutting down.', { retryAfterSeconds: 5 });
  }

  /** Notifies the reader until it stops, or this process does. */
  async read(access: RowFilter, sink: EventSink, stop: AbortSignal): Promise<void> {
    if (this.#stop.signal.aborted || stop.aborted) return;
    await new Promise<void>((end, fail) => {
      const reader: Reader = { access, sink, end, fail, isBehind: true, isSlow: false };
      this.#readers.add(reader);
      onAbort(stop, () => {
        this.#readers.delete(reader);
        end();
      });
      this.#loop ??= this.#run();
    });
  }

  /** Ends all streams: their clients continue at another server process. */
  async end(): Promise<void> {
    this.#stop.abort();
    for (const { end } of this.#readers) end();
    await this.#loop;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  async #run(): Promise<void> {
    const { logger, wait } = this.#options;
    const { signal } = this.#stop;
    const reads = {
      pauseMs: errorPauseMs,
      forMs: Infinity, // until no reader is left
      when: () => this.#readers.size > 0,
      signal,
      onError: (err: unknown) => {
        logger.error({ err }, 'failed to read run changes, retrying');
        for (const reader of this.#readers) reader.isBehind = true;
      },
    };
    let seen: ReadonlyMap<string, string> | undefined;
    while (this.#readers.size > 0 && !signal.aborted) {
      // Fails when no reader is left, or this process stops.
      seen = await retry(() => this.#notifySince(seen), reads).catch(() => seen);
      await wait(everyMs, signal);
    }
    this.#loop = undefined;
  }

  /** Returns the versions of the runs. */
  async #notifySince(seen: ReadonlyMap<string, string> | undefined): Promise<ReadonlyMap<string, string>> {
    const changed = await this.#options.runs.listChanged();
    const versions = new Map(changed.map(({ run_id, version }) => [run_id, version]));
    const known = seen ?? versions;
    await this.#notify(changed.filter((run) => known.get(run.run_id) !== run.version));
    return versions;
  }

  async #notify(changed: readonly { run_id: string }[]): Promise<void> {
    const ids = changed.map(({ run_id }) => run_id);
    const upToDate = new Map<string, Reader[]>();
    for (const reader of this.#readers) {
      const { access, isBehind, isSlow } = reader;
      if (isSlow) continue;
      if (isBehind) send(reader);
      else upToDate.set(access.jsonpath, [...(upToDate.get(access.jsonpath) ?? []), reader]);
    }
    if (ids.length > 0) for (const readers of upToDate.values()) await this.#notifyGroup(readers, ids);
  }

  /** `readers`: with the same access filter. An error of the statement is one of the filter, unless the database is unavailable. */
  async #notifyGroup(readers: readonly Reader[], ids: readonly string[]): Promise<void> {
    const [first] = readers;
    if (!first) return;
    try {
      const threads = await this.#options.runs.listThreads(ids, first.access, threadsMax + 1);
      if (threads.length === 0) return;
      for (const reader of readers) send(reader, threads.length > threadsMax ? undefined : threads);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      for (const { fail } of readers) fail(error);
    }
  }
}

const send = (reader: Reader, thread_ids?: readonly string[]): void => {
  const isKeepingUp = reader.sink.send({ event: 'runs', data: JSON.stringify({ thread_ids }) });
  reader.isBehind = !isKeepingUp;
  if (isKeepingUp) return;
  reader.isSlow = true;
  void reader.sink.drained().then(() => (reader.isSlow = false));
};
