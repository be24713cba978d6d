// Notifies readers that runs have changed. While there are readers, this process reads the changes of all runs once a second. The changed runs are
// then filtered once for all readers with the same access filter. Notifications have no positions: a reader that may have missed changes
// gets a notification without threads, and reads everything again.
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import type { EventWriter } from '../../api/handlers.ts';
import { Backoff, pause } from '../../backoff.ts';
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
  sink: EventWriter;
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

  /** Returns a function that removes the reader. */
  open(access: RowFilter, sink: EventWriter): () => void {
    const reader: Reader = { access, sink, isBehind: true, isSlow: false };
    if (this.#stop.signal.aborted) sink.end();
    else {
      this.#readers.add(reader);
      this.#loop ??= this.#run();
    }
    return () => void this.#readers.delete(reader);
  }

  /** Ends all streams: their clients continue at another server process. */
  async end(): Promise<void> {
    this.#stop.abort();
    for (const { sink } of this.#readers) sink.end();
    await this.#loop;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  async #run(): Promise<void> {
    const { runs, logger, wait } = this.#options;
    const { signal } = this.#stop;
    const backoff = new Backoff(errorPauseMs);
    let seen: ReadonlyMap<string, string> | undefined;
    while (this.#readers.size > 0 && !signal.aborted) {
      try {
        const changed = await runs.listChanged();
        const versions = new Map(changed.map(({ run_id, version }) => [run_id, version]));
        const known = seen ?? versions;
        await this.#notify(changed.filter((run) => known.get(run.run_id) !== run.version));
        seen = versions;
        backoff.reset();
        await wait(everyMs, signal);
      } catch (error) {
        logger.error({ err: error }, 'failed to read run changes, retrying');
        for (const reader of this.#readers) reader.isBehind = true;
        await wait(backoff.next(), signal);
      }
    }
    this.#loop = undefined;
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
      for (const { sink } of readers) sink.fail(error);
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
