// The event stream of a thread: the events of its runs, one run after the other, on whichever nodes they execute. While a client reads it,
// the thread's row has `watched_until` a minute ahead (renewed regularly), and new runs of the thread are logged from their first event.
import { notFound } from '@svc/contract/problem';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { LoggedRun, PlacedRun } from '../../storage/deployment/runs/run-rows.ts';
import type { ThreadStorage } from '../../storage/deployment/threads/threads.ts';
import type { MissedEvents } from '../../engine/streams/run-event-stream.ts';
import { gapEvent } from '../../engine/streams/run-replay.ts';
import type { EventWriter, StreamEvent } from '../../api/handlers.ts';
import { endOfRun, type ThreadPosition } from '../runs/call-headers.ts';
import type { RunOutcomeReader } from '../runs/run-outcome-reader.ts';
import { unlessGone } from '../unless-gone.ts';
import { forwardRun } from './forward-run.ts';
import type { ThreadSignals } from './thread-signals.ts';
import { keepWatched, watch } from './watched-thread.ts';

export interface ThreadRunStreamOptions {
  threads: Pick<ThreadStorage, 'watch'>;
  runs: Pick<RunStorage, 'listNext' | 'findCurrent' | 'find'>;
  outcomes: RunOutcomeReader;
  signals: ThreadSignals;
}

export interface ThreadSubscription {
  /** Starts sending events to the writer; returns a function that stops it. */
  start(sink: EventWriter): () => void;
}

/** Runs that one statement lists. */
const pageSize = 1_000;

interface Reader {
  thread_id: string;
  access: RowFilter;
  modes: ReadonlySet<string>;
  sink: EventWriter;
  stop: AbortSignal;
}

/** Where a reader continues: after the run `last`, or in the run `run` after its event `after`. */
interface Place {
  last: PlacedRun | null;
  run?: PlacedRun;
  after?: number | undefined;
}

export class ThreadRunStream {
  readonly #options: ThreadRunStreamOptions;

  constructor(options: ThreadRunStreamOptions) {
    this.#options = options;
  }

  /** Opens a subscription. Throws `not_found`. */
  async open(
    thread_id: string,
    access: RowFilter,
    position: ThreadPosition,
    modes: string[],
  ): Promise<ThreadSubscription> {
    const { threads } = this.#options;
    const wanted = new Set(modes.length === 0 ? ['run_modes'] : modes);
    if (!(await watch(threads, thread_id, access))) throw notFound('Thread', thread_id);
    return {
      start: (sink) => {
        const stop = new AbortController();
        const unwatch = keepWatched(threads, thread_id, access, () => stop.abort());
        this.#read({ thread_id, access, modes: wanted, sink, stop: stop.signal }, position)
          .then(
            () => sink.end(),
            (error: unknown) => sink.fail(error),
          )
          .finally(unwatch);
        return () => stop.abort();
      },
    };
  }

  /** Reads until it is stopped, or the thread no longer exists for this reader. */
  async #read(reader: Reader, position: ThreadPosition): Promise<void> {
    const { thread_id, access, stop } = reader;
    const place = await this.#begin(reader, position);
    let { last } = place;
    if (place.run) {
      if (!(await this.#readOne(reader, place.run.run_id, place.after))) return;
      last = place.run;
    }
    const signal = this.#options.signals.open(thread_id);
    try {
      while (!stop.aborted) {
        const next = await this.#options.runs.listNext(thread_id, last, pageSize, access);
        if (next === undefined) return;
        for (const run of next) {
          if (!(await this.#readNext(reader, run))) return;
          last = run;
        }
        if (next.length === 0) await signal.wait(stop);
      }
    } finally {
      signal.close();
    }
  }

  async #begin({ thread_id, access }: Reader, position: ThreadPosition): Promise<Place> {
    const { runs } = this.#options;
    if (position === 'beginning') return { last: null };
    if (position) {
      const run = await runs.find(position.run_id, thread_id, access);
      const { after } = position;
      if (run) return after === endOfRun ? { last: run } : { last: null, run, after };
    }
    // Without a position, ended runs are not repeated.
    const current = await runs.findCurrent(thread_id, access);
    if (current && isInFlight(current)) return { last: null, run: current, after: undefined };
    return { last: current ?? null };
  }

  /** Reads a run; true when it was read to its end. An ended run without a log needs no reading. */
  async #readNext(reader: Reader, run: LoggedRun): Promise<boolean> {
    if (reader.stop.aborted) return false;
    if (isInFlight(run) || run.has_log) return this.#readOne(reader, run.run_id, -1);
    await this.#sendEnd(reader, run.run_id, -1, run.status);
    return true;
  }

  /** Reads a run with its events; true when it was read to its end. */
  async #readOne(reader: Reader, run_id: string, after: number | undefined): Promise<boolean> {
    const { thread_id, access, modes } = reader;
    // If the run is not found, it was rolled back or deleted meanwhile.
    const reading = await this.#options.outcomes
      .openReplay(thread_id, run_id, access, after)
      .catch(unlessGone);
    let lastId = after ?? -1;
    const hasEvents = modes.has('run_modes');
    const gap = (missed: MissedEvents): void => {
      if (hasEvents) reader.sink.send(gapEvent(run_id, missed));
    };
    const isOver =
      reading === undefined ||
      (await forwardRun(reading, { ...reader, gap }, ({ id, event, data }) => {
        lastId = id;
        const isSent = hasEvents || (event === 'metadata' && modes.has('lifecycle'));
        return isSent ? reader.sink.send({ id: `${run_id}:${id}`, event, data }) : true;
      }));
    if (isOver) {
      const row = await this.#options.runs.find(run_id, thread_id, access);
      await this.#sendEnd(reader, run_id, lastId, row?.status);
    }
    return isOver;
  }

  /** Sends the end of a run. Without a status, its row was deleted by a rollback. */
  async #sendEnd(
    { thread_id, modes, sink }: Reader,
    run_id: string,
    lastId: number,
    status: string | undefined,
  ): Promise<void> {
    const events: StreamEvent[] = [];
    const ended = JSON.stringify({ run_id, status: status ?? 'rollback' });
    if (modes.has('run_modes')) events.push({ event: 'run_done', data: ended });
    if (modes.has('lifecycle')) events.push({ event: 'end', data: ended });
    if (modes.has('state_update') && status !== undefined) {
      const values = await this.#options.outcomes.values({ run_id, thread_id });
      events.push({ event: 'state_update', data: `{"run_id":"${run_id}","values":${values}}` });
    }
    for (const event of events) {
      const place = event === events.at(-1) ? endOfRun : lastId;
      if (!sink.send({ id: `${run_id}:${place}`, ...event })) await sink.drained();
    }
  }
}

const isInFlight = ({ status }: PlacedRun): boolean => status === 'pending' || status === 'running';
