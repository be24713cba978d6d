// Feeds the streams of runs that execute on other nodes, from the logs of the runs. One reader serves all runs. It is
// woken by notifications and by a poll, which also finds runs that ended or were deleted without an entry in their log.
import type { Logger } from 'pino';
import type { LoggedOutcome, LogRow, RunLogStorage } from '../../storage/deployment/runs/run-log.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';
import type { RunState } from '../../storage/deployment/runs/run-rows.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import type { RunEventHub, RunEventStream, RunOutcome } from './run-event-hub.ts';
import { eventsOf } from './run-subscription.ts';

export interface RunLogTailOptions {
  streams: RunEventHub;
  log: RunLogStorage;
  runs: Pick<RunStorage, 'states' | 'follow'>;
  notifications: NotificationBus;
  pollMs: number;
  /** Called with the age of an event, in milliseconds, when it is sent. */
  onLag: (ms: number) => void;
  logger: Logger;
}

/** Runs that are read by one statement. */
const batchMax = 500;
/** Bytes of events that are read at a time: of one log (less than what is buffered for a client), and of all logs together. */
const pageBytes = { log: 256 * 1024, all: 4 * 1024 * 1024 };

export const deleted = { error: 'RunDeleted', message: 'The run was deleted' };

export class RunLogTail implements AsyncDisposable {
  readonly #options: RunLogTailOptions;
  /** Runs whose logs are to be read. */
  readonly #due = new Set<string>();
  /** Runs with slow readers: their logs are read again when the readers have consumed the events, or after a timeout. */
  readonly #behind = new Set<string>();
  readonly #reads: WorkerLoop;
  readonly #polls: WorkerLoop;
  #closing = false;

  constructor(options: RunLogTailOptions) {
    this.#options = options;
    const { pollMs, logger } = options;
    this.#reads = new WorkerLoop({ task: 'read run logs', claim: () => this.#readAll(), pollMs, logger });
    this.#polls = new WorkerLoop({
      task: 'check followed runs',
      claim: () => this.#pollAll(),
      pollMs,
      logger,
    });
    options.notifications.on('e', (run_id) => {
      if (options.streams.find(run_id)?.isFollowed) this.#readSoon(run_id);
    });
    options.notifications.onMissed(() => this.#polls.wake());
  }

  /** Feeds the stream from the log from now on, beginning with its next event. */
  follow(stream: RunEventStream): void {
    stream.isFollowed = true;
    this.#readSoon(stream.run_id);
  }

  /** The run executes on this node now: its executor feeds the stream. */
  unfollow(run_id: string): void {
    const stream = this.#options.streams.find(run_id);
    if (stream) stream.isFollowed = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all([this.#reads.stop(), this.#polls.stop()]);
  }

  #readSoon(run_id: string): void {
    this.#due.add(run_id);
    this.#reads.wake();
  }

  async #readAll(): Promise<void> {
    while (this.#due.size > 0 && !this.#closing) {
      const batch = [...this.#due].slice(0, batchMax);
      for (const run_id of batch) this.#due.delete(run_id);
      const streams = batch.flatMap((run_id) => {
        const stream = this.#options.streams.find(run_id);
        return stream?.isFollowed && !this.#behind.has(run_id) ? [stream] : [];
      });
      await this.#read(streams);
    }
  }

  /** Returns the runs whose logs may contain more rows, which are read next. */
  async #read(streams: RunEventStream[]): Promise<ReadonlySet<string>> {
    const unread = new Set<string>();
    if (streams.length === 0) return unread;
    const { rows, isCut } = await this.#options.log.news(
      streams.map(({ run_id, nextId }) => ({ run_id, next_id: nextId })),
      pageBytes,
    );
    // Logs of which nothing was returned are read first next time.
    const read = new Set(rows.map(({ run_id }) => run_id));
    const missed = isCut ? streams.filter(({ run_id }) => !read.has(run_id)) : [];
    for (const { run_id } of missed) this.#readSoon(run_id);
    // A log may contain more rows than one statement returns.
    for (const row of rows) {
      if (this.#send(row)) unread.add(row.run_id);
      else unread.delete(row.run_id);
    }
    for (const run_id of unread) this.#continue(run_id);
    for (const { run_id } of missed) unread.add(run_id);
    return unread;
  }

  /** Continues when the readers of the run have consumed the events, or at once when a caller waits for the outcome. */
  #continue(run_id: string): void {
    const stream = this.#options.streams.find(run_id);
    const consumed = stream?.hasWaiters ? undefined : stream?.untilConsumed();
    if (!consumed) return this.#readSoon(run_id);
    this.#behind.add(run_id);
    void consumed.then(() => {
      this.#behind.delete(run_id);
      this.#readSoon(run_id);
    });
  }

  /** Sends the events of the row; returns whether the stream continues. */
  #send(row: LogRow): boolean {
    const { streams } = this.#options;
    const stream = streams.find(row.run_id);
    if (!stream) return false;
    if (row.last_id >= stream.nextId) this.#options.onLag(row.age_ms);
    stream.push(row.first_id, eventsOf(row));
    if (row.outcome !== null) streams.end(row.run_id, outcomeOf(row.outcome));
    return row.outcome === null;
  }

  async #pollAll(): Promise<void> {
    const followed = [...this.#options.streams.followed()].filter(({ run_id }) => !this.#behind.has(run_id));
    for (let at = 0; at < followed.length; at += batchMax) {
      const batch = followed.slice(at, at + batchMax);
      // The states are read before the logs: the log of a run that has ended is complete by then.
      const states = await this.#options.runs.states(batch.map(({ run_id }) => run_id));
      const unread = await this.#read(batch);
      const byId = new Map(states.map((state) => [state.run_id, state]));
      for (const stream of batch) {
        // The rest of the log comes first: it may hold the end of the run.
        if (!unread.has(stream.run_id)) await this.#checkState(stream, byId.get(stream.run_id));
      }
    }
  }

  /** Ends the stream of a run that has ended or was deleted. Has the events of any other run stored in its log. */
  async #checkState(stream: RunEventStream, state: RunState | undefined): Promise<void> {
    if (stream.isEnded || !stream.isFollowed) return;
    const { streams, runs } = this.#options;
    if (!state) {
      stream.push(stream.nextId, [['error', JSON.stringify(deleted)]]);
      return streams.end(stream.run_id, { status: 'error', error: deleted });
    }
    if (state.status === 'pending' || state.status === 'running') {
      const wanted = stream.streamed ? 'events' : 'outcome';
      if (state.log !== wanted && state.log !== 'events') await runs.follow(stream.run_id, wanted);
      return;
    }
    // The run ended before it was followed, so its log has no end.
    const error =
      state.error === null ? null : (JSON.parse(state.error) as { error: string; message: string });
    streams.end(stream.run_id, { status: state.status, error });
  }
}

const outcomeOf = (text: string): RunOutcome => {
  const { status, error, values } = JSON.parse(text) as LoggedOutcome;
  return {
    status: status as RunOutcome['status'],
    error: error === null ? null : (JSON.parse(error) as RunOutcome['error']),
    ...(values === null ? {} : { values }),
  };
};
