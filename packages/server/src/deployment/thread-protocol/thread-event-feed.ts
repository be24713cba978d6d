// The feed of thread protocol v2: the translated events of a thread's runs, in the order of their first claims, on whichever nodes they
// execute. It begins with the oldest retained log, or after the number `since`, and ends when the client leaves. A sibling of
// ThreadRunStream, which has the untranslated events.
import { notFound, Problem } from '@svc/contract/problem';
import type { EventSink, Call } from '../../api/handlers.ts';
import { pause } from '../../backoff.ts';
import type { SequencedRun } from '../../storage/deployment/runs/run-sequence.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { RunEvent } from '../../engine/streams/run-subscription.ts';
import type { RunOutcomeReader } from '../runs/run-outcome-reader.ts';
import type { ThreadReader, WatchedThread, WatchedThreads } from '../threads/watched-thread.ts';
import { unlessGone } from '../unless-gone.ts';
import { answeredInterrupts } from './translation/interrupt-events.ts';
import type { EventFilter } from './event-filter.ts';
import { type Dialect, dialectOf } from './translation/dialect.ts';
import { eventText, type NumberedEvent } from './translation/protocol-event.ts';
import { RunTranslator } from './translation/run-translator.ts';
import { readAccess } from '../threads/read-access.ts';

export interface ThreadEventFeedOptions {
  threads: WatchedThreads;
  runs: Pick<RunStorage, 'listSequence' | 'findAnswer' | 'floor' | 'find'>;
  outcomes: Pick<RunOutcomeReader, 'subscribe'>;
}

export interface FeedReader extends ThreadReader {
  /** Whether the caller may create the thread. Asked when the caller cannot read such a thread: then the feed waits for one. */
  mayCreate: () => Promise<boolean>;
  dialect: Dialect;
}

export interface FeedRequest extends FeedReader {
  filter: EventFilter;
  /** Only events with higher numbers are sent. */
  since: number | undefined;
}

/** Runs that one statement lists. */
const pageSize = 1_000;

interface Reader extends ThreadReader {
  since: number;
  dialect: Dialect;
  filter: EventFilter;
  sink: EventSink;
  thread: WatchedThread;
}

/** How long the end of a replayed run is held back, so that a run which its reader starts at the same time is seen before. */
const startedBesideMs = 500;

export class ThreadEventFeed {
  readonly #options: ThreadEventFeedOptions;

  constructor(options: ThreadEventFeedOptions) {
    this.#options = options;
  }

  /** Throws `not_found` when the caller cannot read such a thread, and may not create it either. */
  async assertReadable(reader: FeedReader): Promise<void> {
    const isThere = await this.#options.threads.watch(reader);
    if (!isThere && !(await reader.mayCreate())) throw notFound('Thread', reader.thread_id);
  }

  /**
   * Sends events until the reader has left, or the thread no longer exists for it. Call `assertReadable` before. While the thread does not exist,
   * or belongs to another user, the reader waits for it.
   */
  async read(request: FeedRequest, sink: EventSink, leave: AbortSignal): Promise<void> {
    const { thread_id, access, dialect, filter, since = -1 } = request;
    const { runs } = this.#options;
    using thread = this.#options.threads.open(request, leave);
    await thread.untilReadable();
    const { stop } = thread;
    const reader = { thread_id, access, since, dialect, filter, sink, thread };
    let last = since < 0 || stop.aborted ? 0 : (await runs.floor(thread_id, since)) - 1;
    while (!stop.aborted) {
      const next = await runs.listSequence(thread_id, last, pageSize, access);
      if (next === undefined) return;
      const newest = next.awaited ?? next.claimed.findLast(isReadable)?.run_id;
      for (const run of next.claimed) {
        if (isReadable(run) && !(await this.#readRun(reader, run, run.run_id !== newest))) return;
        last = run.first_seq;
      }
      if (next.claimed.length > 0) continue;
      await (next.awaited === undefined ? thread.wait() : this.#untilBegun(reader, next.awaited));
    }
  }

  /** Waits for the run that is next to begin or to end. Its events are stored in its log from the first one. */
  async #untilBegun({ thread_id, access, sink, thread }: Reader, run_id: string): Promise<void> {
    const subscription = await this.#options.outcomes.subscribe(thread_id, run_id, access).catch(unlessGone);
    if (subscription === undefined) return;
    const waited = new AbortController();
    const send = (): boolean => {
      waited.abort();
      return true;
    };
    const begun = subscription.read({ send, drained: () => sink.drained() }, waited.signal);
    await thread.wait(begun);
    waited.abort();
    await begun;
  }

  /** Reads a run; true when it was read to its end. `isFollowed`: a newer run of the thread is read after it. */
  async #readRun(reader: Reader, run: SequencedRun, isFollowed: boolean): Promise<boolean> {
    const { thread_id, access, sink } = reader;
    const { stop } = reader.thread;
    if (stop.aborted) return false;
    const isReplay = !isInFlight(run);
    const translator = new RunTranslator(run, reader.dialect, reader.filter.unread);
    if (!send(reader, translator.begin(await this.#answered(reader, run)), isReplay)) await sink.drained();
    // If the run is not found, it was rolled back or deleted meanwhile.
    const subscription = await this.#options.outcomes
      .subscribe(thread_id, run.run_id, access, -1)
      .catch(unlessGone);
    const mounts = reader.filter.isNarrow ? new SubagentMounts() : undefined;
    const receiver = {
      send: ({ id, event, data }: RunEvent) => {
        mounts?.take(event);
        return send(reader, translator.take(id, event, data), isReplay);
      },
      drained: () => sink.drained(),
    };
    if (subscription && !(await subscription.read(receiver, stop))) return false;
    const hasNewer = isReplay && (isFollowed || (await this.#isFollowedSoon(reader, run)));
    if (mounts && !hasNewer) await pause(mounts.remainingMs, stop);
    if (stop.aborted) return false;
    const row = await this.#options.runs.find(run.run_id, thread_id, access);
    if (!send(reader, translator.end(row, hasNewer), isReplay)) await sink.drained();
    return true;
  }

  /**
   * True when a newer run follows. Clients open their feed and start a run at the same time, in two requests: this waits for the second request.
   * It also waits when the reader has events of the run already, because a socket restarts its feed for each new subscription.
   */
  async #isFollowedSoon({ thread_id, access, thread }: Reader, run: SequencedRun): Promise<boolean> {
    let isOver = false;
    const held = pause(startedBesideMs, thread.stop).then(() => {
      isOver = true;
    });
    for (;;) {
      const next = await this.#options.runs.listSequence(thread_id, run.first_seq, 1, access);
      if (next !== undefined && (next.awaited !== undefined || next.claimed.length > 0)) return true;
      if (next === undefined || isOver) return false;
      await thread.wait(held);
    }
  }

  /**
   * Ids of the interrupts that the run answers. None for a run that has failed or was cancelled: the thread may wait at them again, and
   * a reader that has just read its state would hide them.
   */
  async #answered({ thread_id, access, filter }: Reader, run: SequencedRun): Promise<string[]> {
    const isFailed = !isInFlight(run) && run.status !== 'success';
    if (isFailed || filter.unread.has('input')) return [];
    const answer = await this.#options.runs.findAnswer(run.run_id, thread_id, access);
    return answer === undefined ? [] : answeredInterrupts(answer);
  }
}

const isInFlight = ({ status }: SequencedRun): boolean => status === 'pending' || status === 'running';

/** Nothing is known of an ended run without a log. */
const isReadable = (run: SequencedRun): boolean => isInFlight(run) || run.has_log;

/** Sends the selected events; false when the reader is behind. */
const send = ({ filter, since, sink }: Reader, events: NumberedEvent[], isReplay: boolean): boolean => {
  let isKeepingUp = true;
  for (const event of events) {
    if (event.seq <= since || !filter.isSelected(event, since, isReplay)) continue;
    isKeepingUp = sink.send({ id: event.event_id, event: event.method, data: eventText(event) });
  }
  return isKeepingUp;
};

/** How long a component may take to mount and to open its feed. */
const mountMs = 1_000;

/** A state of a graph that a tool executes. */
const stateOfSubagent = /^values\|(?:.*\|)?tools:[^|]*$/;

/**
 * Pages select the events of a subagent when they learn of it: a component mounts, and selects the namespace with a request or a command. The stock
 * client stops each selection at the end of the run, and then drops the replayed events of a selection that it has made before the end. In a
 * short run the end would arrive first, so a page gets it some time after the first state of the newest subagent.
 */
class SubagentMounts {
  readonly #known = new Set<string>();
  #newestMs = -Infinity;

  /** Takes the name of a logged event that is sent to the page. */
  take(name: string): void {
    if (!stateOfSubagent.test(name) || this.#known.has(name)) return;
    this.#known.add(name);
    this.#newestMs = performance.now();
  }

  /** How long the end of the run is to be delayed from now on. */
  get remainingMs(): number {
    return Math.max(0, this.#newestMs + mountMs - performance.now());
  }
}

// The caller of a feed, and what the caller may read.

/** Throws the error of a handler that refuses. */
export const feedReader = async (call: Call, thread_id: string): Promise<FeedReader> => ({
  thread_id,
  dialect: dialectOf(call.header('user-agent')),
  access: await readAccess(call.authorizer, { thread_id }),
  mayCreate: async () => {
    try {
      await call.authorizer.authorize('threads:create', { thread_id, metadata: {}, if_exists: undefined });
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === 'forbidden') return false;
      throw error;
    }
  },
});
