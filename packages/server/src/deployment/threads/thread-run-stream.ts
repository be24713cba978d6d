// The event stream of a thread: the events of its runs, one run after the other, on whichever nodes they execute.
import { notFound } from '@svc/contract/problem';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { LoggedRun, PlacedRun } from '../../storage/deployment/runs/run-rows.ts';
import type { EventSink, EventSource, StreamEvent } from '../../api/handlers.ts';
import { gapEvent, type MissedEvents, type RunEvent } from '../../engine/streams/run-subscription.ts';
import { endOfRun, type ThreadPosition } from '../runs/call-headers.ts';
import type { RunOutcomeReader } from '../runs/run-outcome-reader.ts';
import { unlessGone } from '../unless-gone.ts';
import type { ThreadReader, WatchedThread, WatchedThreads } from './watched-thread.ts';

export interface ThreadRunStreamOptions {
  threads: WatchedThreads;
  runs: Pick<RunStorage, 'listNext' | 'findCurrent' | 'find'>;
  outcomes: RunOutcomeReader;
}

/** Runs that one statement lists. */
const pageSize = 1_000;

interface Reader extends ThreadReader {
  modes: ReadonlySet<string>;
  sink: EventSink;
  thread: WatchedThread;
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

  /** Throws `not_found`. The stream ends when the thread no longer exists for the reader. */
  async open(reader: ThreadReader, position: ThreadPosition, modes: string[]): Promise<EventSource> {
    const { threads } = this.#options;
    const wanted = new Set(modes.length === 0 ? ['run_modes'] : modes);
    if (!(await threads.watch(reader))) throw notFound('Thread', reader.thread_id);
    return async (sink, leave) => {
      using thread = threads.open(reader, leave);
      thread.keepWatched();
      await this.#read({ ...reader, modes: wanted, sink, thread }, position);
    };
  }

  async #read(reader: Reader, position: ThreadPosition): Promise<void> {
    const { thread_id, access, thread } = reader;
    const place = await this.#begin(reader, position);
    let { last } = place;
    if (place.run) {
      if (!(await this.#readOne(reader, place.run.run_id, place.after))) return;
      last = place.run;
    }
    while (!thread.stop.aborted) {
      const next = await this.#options.runs.listNext(thread_id, last, pageSize, access);
      if (next === undefined) return;
      for (const run of next) {
        if (!(await this.#readNext(reader, run))) return;
        last = run;
      }
      if (next.length === 0) await thread.wait();
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
    if (reader.thread.stop.aborted) return false;
    if (isInFlight(run) || run.has_log) return this.#readOne(reader, run.run_id, -1);
    await this.#sendEnd(reader, run.run_id, -1, run.status);
    return true;
  }

  /** Reads a run with its events; true when it was read to its end. */
  async #readOne(reader: Reader, run_id: string, after: number | undefined): Promise<boolean> {
    const { thread_id, access, modes, sink, thread } = reader;
    // If the run is not found, it was rolled back or deleted meanwhile.
    const subscription = await this.#options.outcomes
      .subscribe(thread_id, run_id, access, after)
      .catch(unlessGone);
    let lastId = after ?? -1;
    const hasEvents = modes.has('run_modes');
    const receiver = {
      send: ({ id, event, data }: RunEvent) => {
        lastId = id;
        const isSent = hasEvents || (event === 'metadata' && modes.has('lifecycle'));
        return isSent ? sink.send({ id: `${run_id}:${id}`, event, data }) : true;
      },
      gap: (missed: MissedEvents) => {
        if (hasEvents) sink.send(gapEvent(run_id, missed));
      },
      drained: () => sink.drained(),
    };
    const isOver = subscription === undefined || (await subscription.read(receiver, thread.stop));
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
