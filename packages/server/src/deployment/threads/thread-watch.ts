// The stream of a thread: the events of its runs, one run after the other, wherever they execute. While somebody
// watches, the thread's row says so (for a minute, and again), and its new runs are logged from their first event.
import { setTimeout as sleep } from 'node:timers/promises';
import { notFound } from '@svc/contract/problem';
import type { Bell } from '../../events/bell.ts';
import { readRun, type Reading } from '../../events/run-reading.ts';
import type { RowFilter } from '../../storage/row-filter.ts';
import type { PlacedRun, RunStorage } from '../../storage/runs.ts';
import type { ThreadStorage } from '../../storage/threads.ts';
import type { EventSink } from '../../api/handlers.ts';
import type { ThreadPosition } from '../runs/call-headers.ts';
import type { RunFollower } from '../runs/run-follower.ts';
import { unlessGone } from '../unless-gone.ts';

export interface ThreadWatchOptions {
  threads: Pick<ThreadStorage, 'watch'>;
  runs: Pick<RunStorage, 'findNext' | 'find'>;
  follower: RunFollower;
  bell: Bell;
  pollMs: number;
}

export interface Watching {
  /** Feeds the sink; returns what stops it. */
  start(sink: EventSink): () => void;
}

/** How long a thread counts as watched after somebody said so, and how often they say it. */
const watchedMs = { for: 60_000, every: 20_000 };

/** Who reads which thread, and what of it. */
interface Reader {
  thread_id: string;
  access: RowFilter;
  modes: ReadonlySet<string>;
  sink: EventSink;
  stop: AbortSignal;
}

export class ThreadWatch {
  readonly #options: ThreadWatchOptions;
  readonly #wakes = new Map<string, Set<() => void>>();

  constructor(options: ThreadWatchOptions) {
    this.#options = options;
    options.bell.on('t', (thread_id) => {
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
    let { last, run, after } = await this.#begin(reader, position);
    while (!stop.aborted) {
      const next = run ?? (await this.#options.runs.findNext(thread_id, last, access));
      if (next === undefined) return;
      if (next === null) {
        await this.#pause(thread_id, stop);
        continue;
      }
      const isOver = await this.#readOne(reader, next.run_id, after);
      if (!isOver) return;
      last = next;
      run = undefined;
      after = -1;
    }
  }

  /** The run to begin with, if there is one: in flight, or the one that the position names. */
  async #begin({ thread_id, access }: Reader, position: ThreadPosition) {
    const { runs } = this.#options;
    let last: PlacedRun | null = null;
    let run: PlacedRun | undefined;
    if (position === 'beginning') return { last, run, after: -1 };
    if (position) {
      run = await runs.find(position.run_id, thread_id, access);
      if (run) return { last, run, after: position.after };
    }
    // What is over is not repeated to who did not ask for it.
    for (;;) {
      const next = await runs.findNext(thread_id, last, access);
      if (!next) return { last, run, after: -1 };
      if (next.status === 'pending' || next.status === 'running')
        return { last, run: next, after: undefined };
      last = next;
    }
  }

  /** Whether the run was read to its end. */
  async #readOne(reader: Reader, run_id: string, after: number | undefined): Promise<boolean> {
    const { thread_id, access, modes } = reader;
    // It was there a moment ago: rolled back or deleted since, it is over.
    const reading = await this.#options.follower.reading(thread_id, run_id, access, after).catch(unlessGone);
    let lastId = after ?? -1;
    const isOver = reading === undefined || (await forward(reading, reader, run_id, (id) => (lastId = id)));
    if (isOver && modes.size > 0) await this.#tellEnd(reader, run_id, lastId);
    return isOver;
  }

  async #tellEnd({ thread_id, access, modes, sink }: Reader, run_id: string, lastId: number): Promise<void> {
    const id = `${run_id}:${lastId}`;
    const row = await this.#options.runs.find(run_id, thread_id, access);
    if (modes.has('lifecycle'))
      sink.send({ id, event: 'end', data: JSON.stringify({ run_id, status: row?.status ?? 'rollback' }) });
    if (modes.has('state_update') && row) {
      const values = await this.#options.follower.result(
        row,
        Promise.resolve({ status: 'success', error: null }),
      );
      sink.send({ id, event: 'state_update', data: `{"run_id":"${run_id}","values":${values}}` });
    }
  }

  /** Until the bell rings for the thread, or a poll's time is over. */
  async #pause(thread_id: string, stop: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    const wakes = this.#wakes.get(thread_id) ?? new Set();
    this.#wakes.set(thread_id, wakes.add(wake));
    await sleep(this.#options.pollMs, undefined, { signal: AbortSignal.any([stop, woken.signal]) }).catch(
      () => undefined, // an abort only ends the pause
    );
    wakes.delete(wake);
    if (wakes.size === 0) this.#wakes.delete(thread_id);
  }
}

/** Tells what a run says, until its end or until the reader stops; whether it was read to its end. */
const forward = (
  reading: Reading,
  { modes, sink, stop }: Reader,
  run_id: string,
  onEvent: (id: number) => void,
): Promise<boolean> => {
  const all = modes.size === 0 || modes.has('run_modes');
  return new Promise((resolve, reject) => {
    const close = readRun(reading, {
      send: ({ id, event, data }) => {
        onEvent(id);
        const isTold = all || (event === 'metadata' && modes.has('lifecycle'));
        return isTold ? sink.send({ id: `${run_id}:${id}`, event, data }) : true;
      },
      drained: () => sink.drained(),
      end: () => resolve(true),
      fail: reject,
    });
    stop.addEventListener(
      'abort',
      () => {
        close();
        resolve(false);
      },
      { once: true },
    );
  });
};
