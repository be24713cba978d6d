// The stream of a thread: the events of its runs, one run after the other, wherever they execute. While a client reads
// it, the thread's row says so (for a minute, and again), and its new runs are logged from their first event.
import { notFound } from '@svc/contract/problem';
import { onAbort } from '../../abort.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { LoggedRun, PlacedRun, RunStorage } from '../../storage/deployment/runs.ts';
import type { ThreadStorage } from '../../storage/deployment/threads.ts';
import type { EventSink } from '../../api/handlers.ts';
import type { ThreadPosition } from '../runs/call-headers.ts';
import type { RunOutcomeReader } from '../runs/run-outcome-reader.ts';
import { unlessGone } from '../unless-gone.ts';
import { forwardRun } from './forward-run.ts';

export interface ThreadWatchOptions {
  threads: Pick<ThreadStorage, 'watch'>;
  runs: Pick<RunStorage, 'listNext' | 'findCurrent' | 'find'>;
  follower: RunOutcomeReader;
  notifications: NotificationBus;
  pollMs: number;
}

export interface Watching {
  /** Feeds the sink; returns what stops it. */
  start(sink: EventSink): () => void;
}

/** How long a thread counts as watched after a reader has renewed that, and how often readers do. */
const watchedMs = { for: 60_000, every: 20_000 };
/** Runs that one statement lists. */
const pageSize = 1_000;

interface Reader {
  thread_id: string;
  access: RowFilter;
  modes: ReadonlySet<string>;
  sink: EventSink;
  stop: AbortSignal;
}

/** Where a reader continues: after the run `last`, or inside `run`, after its event `after`. */
interface Place {
  last: PlacedRun | null;
  run?: PlacedRun;
  after?: number | undefined;
}

export class ThreadWatch {
  readonly #options: ThreadWatchOptions;
  readonly #wakes = new Map<string, Set<() => void>>();

  constructor(options: ThreadWatchOptions) {
    this.#options = options;
    options.notifications.on('t', (thread_id) => {
      for (const wake of this.#wakes.get(thread_id) ?? []) wake();
    });
  }

  /** Throws not_found. */
  async open(
    thread_id: string,
    access: RowFilter,
    position: ThreadPosition,
    modes: string[],
  ): Promise<Watching> {
    const { threads } = this.#options;
    if (!(await threads.watch(thread_id, watchedMs.for, access))) throw notFound('Thread', thread_id);
    return {
      start: (sink) => {
        const stop = new AbortController();
        const renew = async (): Promise<void> => {
          if (!(await threads.watch(thread_id, watchedMs.for, access))) stop.abort();
        };
        const renewal = setInterval(
          // A run made while the database was away is found by the poll, from where it was then on.
          () => void renew().catch(() => undefined),
          watchedMs.every,
        );
        this.#read({ thread_id, access, modes: new Set(modes), sink, stop: stop.signal }, position)
          .then(
            () => sink.end(),
            (error: unknown) => sink.fail(error),
          )
          .finally(() => clearInterval(renewal));
        return () => stop.abort();
      },
    };
  }

  /** Until it is stopped, or the thread is not there for this reader any more. */
  async #read(reader: Reader, position: ThreadPosition): Promise<void> {
    const { thread_id, access, stop } = reader;
    const place = await this.#begin(reader, position);
    let { last } = place;
    if (place.run) {
      if (!(await this.#readOne(reader, place.run.run_id, place.after))) return;
      last = place.run;
    }
    while (!stop.aborted) {
      const next = await this.#options.runs.listNext(thread_id, last, pageSize, access);
      if (next === undefined) return;
      for (const run of next) {
        if (!(await this.#readNext(reader, run))) return;
        last = run;
      }
      if (next.length === 0) await this.#pause(thread_id, stop);
    }
  }

  async #begin({ thread_id, access }: Reader, position: ThreadPosition): Promise<Place> {
    const { runs } = this.#options;
    if (position === 'beginning') return { last: null };
    if (position) {
      const run = await runs.find(position.run_id, thread_id, access);
      if (run) return { last: null, run, after: position.after };
    }
    // Runs that are over are not repeated to a reader that names no position.
    const current = await runs.findCurrent(thread_id, access);
    if (current && isInFlight(current)) return { last: null, run: current, after: undefined };
    return { last: current ?? null };
  }

  /** Whether the run was read to its end. A run that is over and has no log needs no reading. */
  async #readNext(reader: Reader, run: LoggedRun): Promise<boolean> {
    if (reader.stop.aborted) return false;
    if (isInFlight(run) || run.has_log) return this.#readOne(reader, run.run_id, -1);
    await this.#sendEnd(reader, run.run_id, -1, run.status);
    return true;
  }

  /** Whether the run was read to its end. */
  async #readOne(reader: Reader, run_id: string, after: number | undefined): Promise<boolean> {
    const { thread_id, access, modes } = reader;
    // It was there a moment ago: rolled back or deleted since, it is over.
    const reading = await this.#options.follower.reading(thread_id, run_id, access, after).catch(unlessGone);
    let lastId = after ?? -1;
    const isOver =
      reading === undefined || (await forwardRun(reading, reader, run_id, (id) => (lastId = id)));
    if (isOver && modes.size > 0) {
      const row = await this.#options.runs.find(run_id, thread_id, access);
      await this.#sendEnd(reader, run_id, lastId, row?.status);
    }
    return isOver;
  }

  /** Without a status the run has left no row. */
  async #sendEnd(
    { thread_id, modes, sink }: Reader,
    run_id: string,
    lastId: number,
    status: string | undefined,
  ): Promise<void> {
    const id = `${run_id}:${lastId}`;
    const send = async (event: string, data: string): Promise<void> => {
      if (!sink.send({ id, event, data })) await sink.drained();
    };
    if (modes.has('lifecycle')) await send('end', JSON.stringify({ run_id, status: status ?? 'rollback' }));
    if (modes.has('state_update') && status !== undefined) {
      const ended = Promise.resolve({ status: 'success' as const, error: null });
      const values = await this.#options.follower.result({ run_id, thread_id }, ended);
      await send('state_update', `{"run_id":"${run_id}","values":${values}}`);
    }
  }

  /** Until a new run of the thread is reported, a poll is due, or the reader has left. */
  #pause(thread_id: string, stop: AbortSignal): Promise<void> {
    if (stop.aborted) return Promise.resolve();
    const wakes = this.#wakes.get(thread_id) ?? new Set();
    this.#wakes.set(thread_id, wakes);
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(poll);
        stopWaiting();
        wakes.delete(wake);
        if (wakes.size === 0) this.#wakes.delete(thread_id);
        resolve();
      };
      wakes.add(wake);
      const poll = setTimeout(wake, this.#options.pollMs);
      const stopWaiting = onAbort(stop, wake);
    });
  }
}

const isInFlight = ({ status }: PlacedRun): boolean => status === 'pending' || status === 'running';
