// Feeds the streams of runs that execute on other nodes, from their logs: one reader for all of them, woken by the
// notifications, and by a poll that also finds runs which ended, or went, without a word in their log.
import type { Logger } from 'pino';
import type { LogRow, RunLogStorage } from '../../storage/deployment/run-log.ts';
import type { RunState, RunStorage } from '../../storage/deployment/runs.ts';
import { CoalescedTask } from '../../jobs/coalesced-task.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { eventsOf, outcomeOf } from './log-rows.ts';
import type { RunEventStream } from './run-event-stream.ts';
import type { RunEventHub } from './run-event-hub.ts';

export interface RunLogTailOptions {
  streams: RunEventHub;
  log: RunLogStorage;
  runs: Pick<RunStorage, 'states' | 'follow'>;
  notifications: NotificationBus;
  pollMs: number;
  /** Told how old an event was, in milliseconds, when it was told. */
  onLag: (ms: number) => void;
  logger: Logger;
}

/** Runs asked for in one statement. */
const batchMax = 500;
/** Bytes of events that are read of one log at a time: less than what is buffered for a client. And of all logs together. */
const pageBytes = { log: 256 * 1024, all: 4 * 1024 * 1024 };

export const deleted = { error: 'RunDeleted', message: 'The run was deleted' };

export class RunLogTail implements AsyncDisposable {
  readonly #options: RunLogTailOptions;
  readonly #poll: NodeJS.Timeout;
  readonly #rung = new Set<string>();
  /** Runs whose readers are behind: their logs are read again when these have taken what they got, or had time to. */
  readonly #behind = new Set<string>();
  readonly #reads: CoalescedTask;
  readonly #polls: CoalescedTask;
  #closing = false;

  constructor(options: RunLogTailOptions) {
    this.#options = options;
    const { logger } = options;
    this.#reads = new CoalescedTask(() =>
      this.#readAll().catch((error: unknown) =>
        logger.error({ err: error }, 'logs of runs could not be read; will try again'),
      ),
    );
    this.#polls = new CoalescedTask(() =>
      this.#pollAll().catch((error: unknown) =>
        logger.error({ err: error }, 'followed runs could not be looked at; will try again'),
      ),
    );
    options.notifications.on('e', (run_id) => {
      if (options.streams.find(run_id)?.isFollowed) this.#ring(run_id);
    });
    options.notifications.onMissed(() => this.#polls.trigger());
    this.#poll = setInterval(() => this.#polls.trigger(), options.pollMs);
  }

  /** From now on the stream is fed from the log, from the event on that it has not told yet. */
  follow(stream: RunEventStream): void {
    stream.isFollowed = true;
    this.#ring(stream.run_id);
  }

  /** The run executes here now. */
  unfollow(run_id: string): void {
    const stream = this.#options.streams.find(run_id);
    if (stream) stream.isFollowed = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearInterval(this.#poll);
    await Promise.all([this.#reads.stop(), this.#polls.stop()]);
  }

  #ring(run_id: string): void {
    this.#rung.add(run_id);
    this.#reads.trigger();
  }

  async #readAll(): Promise<void> {
    while (this.#rung.size > 0 && !this.#closing) {
      const asked = [...this.#rung].slice(0, batchMax);
      for (const run_id of asked) this.#rung.delete(run_id);
      const streams = asked.flatMap((run_id) => {
        const stream = this.#options.streams.find(run_id);
        return stream?.isFollowed && !this.#behind.has(run_id) ? [stream] : [];
      });
      await this.#read(streams);
    }
  }

  /** Returns the runs whose logs may hold more: they have been asked for. */
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
    for (const { run_id } of missed) this.#ring(run_id);
    // A log may have more than one statement returns of it.
    for (const row of rows) {
      if (this.#tell(row)) unread.add(row.run_id);
      else unread.delete(row.run_id);
    }
    for (const run_id of unread) this.#goOn(run_id);
    for (const { run_id } of missed) unread.add(run_id);
    return unread;
  }

  /** Reads on as soon as the readers of the run can take more; at once when somebody waits for its outcome. */
  #goOn(run_id: string): void {
    const stream = this.#options.streams.find(run_id);
    const taken = stream?.hasWaiters ? undefined : stream?.untilTaken();
    if (!taken) return this.#ring(run_id);
    this.#behind.add(run_id);
    void taken.then(() => {
      this.#behind.delete(run_id);
      this.#ring(run_id);
    });
  }

  /** Whether the stream goes on. */
  #tell(row: LogRow): boolean {
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
      // States first: a log that is read after a run has ended is whole.
      const states = await this.#options.runs.states(batch.map(({ run_id }) => run_id));
      const unread = await this.#read(batch);
      const byId = new Map(states.map((state) => [state.run_id, state]));
      for (const stream of batch) {
        // What its log has yet to say comes first: its end may be there too.
        if (!unread.has(stream.run_id)) await this.#heal(stream, byId.get(stream.run_id));
      }
    }
  }

  async #heal(stream: RunEventStream, state: RunState | undefined): Promise<void> {
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
    // Over, and its log does not say so: it ended before it was followed.
    const error =
      state.error === null ? null : (JSON.parse(state.error) as { error: string; message: string });
    streams.end(stream.run_id, { status: state.status, error });
  }
}
