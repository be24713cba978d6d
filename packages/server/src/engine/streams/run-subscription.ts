// One reader of a run's events. It gets the events of the log after a given id, then live events, then the end of the run.
//
// The log is read at the speed of the reader. Live events are queued during that time. When the queue is full, it is dropped, and its events are
// read from the log; if the log does not have them, the read rejects with an error. When the given id does not exist yet, the reader gets live
// events only. `gap` reports ids that were skipped because no log has their events.
import { Problem } from '@svc/contract/problem';
import { onAbort } from '../../abort.ts';
import type { LogRow, RunLogStorage } from '../../storage/deployment/runs/run-log.ts';

export interface RunEvent {
  id: number;
  event: string;
  /** JSON text. */
  data: string;
}

/** Ids of events that are not available: from `from` on, without `until`. */
export interface MissedEvents {
  from: number;
  until: number;
}

/** Receives the events of a subscription. Must not throw. */
export interface RunEventReader {
  /** False when the reader is behind. */
  send(event: RunEvent): boolean;
  /** Settles when the reader has caught up, or has left. */
  drained(): Promise<void>;
  /** Called before the event that follows events which are not available. */
  gap?(missed: MissedEvents): void;
}

export interface SubscriptionOptions {
  run_id: string;
  log: RunLogStorage;
  /** The id after which to begin: -1 for all. Undefined: live only. */
  after: number | undefined;
  /** The run has ended, so there are no live events. */
  isEnded: boolean;
}

/** Characters of live events that wait while the log is read; above this they are dropped. */
const waitingMax = 4 * 1024 * 1024;
/** Characters of events read from the log at a time. */
const pageSize = 256 * 1024;

export class RunSubscription {
  readonly #options: SubscriptionOptions;
  readonly #leave: (subscription: RunSubscription) => void;
  #reader: RunEventReader | undefined;
  #finish: (isOver: boolean) => void = () => undefined;
  /** True when live events go to the reader; before that, they wait. */
  #isLive = false;
  #waiting: RunEvent[] = [];
  #waitingSize = 0;
  #dropped: MissedEvents | undefined;
  #isEnded: boolean;
  #isClosed = false;
  /** Undefined until the first event when the reader begins with live events. */
  #nextId: number | undefined;
  #isBehind = false;
  /** A wait for the reader timed out: there is no further wait until it has consumed its events. */
  #isStalled = false;

  constructor(options: SubscriptionOptions, leave: (subscription: RunSubscription) => void) {
    this.#options = options;
    this.#isEnded = options.isEnded;
    this.#leave = leave;
  }

  get run_id(): string {
    return this.#options.run_id;
  }

  /**
   * Sends the events to the reader. Resolves with true when the run was read to its end, and with false when `stop` was aborted. Rejects when
   * the log cannot be read, or lacks dropped events. Closes the subscription.
   */
  async read(reader: RunEventReader, stop?: AbortSignal): Promise<boolean> {
    this.#reader = reader;
    let removeListener = (): void => undefined;
    try {
      return await new Promise<boolean>((resolve, reject) => {
        this.#finish = resolve;
        if (stop) removeListener = onAbort(stop, () => this.close());
        this.#begin(reader).catch(reject);
      });
    } finally {
      removeListener();
      this.close();
    }
  }

  /** The run has ended, and no live event follows. */
  end(): void {
    this.#isEnded = true;
    if (this.#isLive) this.#finish(true);
  }

  /** The run has ended elsewhere: its stream on this node gets no events. */
  leaveStream(): void {
    this.#leave(this);
    this.end();
  }

  /** Ends the subscription: the reader has left. */
  close(): void {
    this.#isClosed = true;
    this.#leave(this);
    this.#finish(false);
  }

  /** Takes a live event. */
  push(event: RunEvent): void {
    if (this.#isLive && this.#reader) return this.#sendLive(this.#reader, event);
    this.#waitingSize += event.data.length;
    if (this.#waitingSize <= waitingMax) {
      this.#waiting.push(event);
      return;
    }
    const from = this.#dropped?.from ?? this.#waiting[0]?.id ?? event.id;
    this.#dropped = { from, until: event.id + 1 };
    this.#waiting = [];
  }

  /** Resolves when the reader has consumed its events, or with `late`; undefined when there is nothing to wait for. */
  untilConsumed(late: Promise<void>): Promise<void> | undefined {
    if (!this.#isBehind || this.#isStalled || !this.#reader) return undefined;
    let isConsumed = false;
    const inTime = this.#reader.drained().then(() => {
      isConsumed = true;
      this.#isBehind = false;
      this.#isStalled = false;
    });
    return Promise.race([inTime, late.then(() => void (this.#isStalled ||= !isConsumed))]);
  }

  async #begin(reader: RunEventReader): Promise<void> {
    const { run_id, log, after } = this.#options;
    if (this.#isClosed) return;
    let dropped: MissedEvents | undefined;
    if (after === undefined) {
      dropped = this.#goLive(reader);
      if (!dropped) return;
      this.#nextId = dropped.from;
    } else this.#nextId = Math.min(after + 1, (await log.findEnd(run_id)) ?? 0);
    // Reads the log to its end, then live events.
    do {
      const found = await this.#replay(reader, dropped);
      if (this.#isClosed) return;
      if (dropped && found === 'lost') throw droppedEvents(run_id, this.#nextId ?? 0, dropped);
      if (found === 'over') return this.#finish(true);
      dropped = this.#goLive(reader);
    } while (dropped);
  }

  /**
   * Sends the events of the log. `over`: the log contains the end of the run, or the reader has left. `lost`: the log lacks dropped events.
   */
  async #replay(
    reader: RunEventReader,
    dropped: MissedEvents | undefined,
  ): Promise<'over' | 'open' | 'lost'> {
    const { run_id, log } = this.#options;
    const isLost = (nextLogged: number): boolean =>
      dropped !== undefined && (this.#nextId ?? 0) < Math.min(nextLogged, dropped.until);
    for (;;) {
      const rows = await log.page(run_id, this.#nextId ?? 0, pageSize);
      if (this.#isClosed) return 'over';
      for (const row of rows) {
        for (const [position, [event, data]] of eventsOf(row).entries()) {
          const id = row.first_id + position;
          if (id < (this.#nextId ?? 0)) continue;
          if (isLost(id)) return 'lost';
          if (!this.#send(reader, { id, event, data })) await reader.drained();
          if (this.#isClosed) return 'over';
        }
        if (row.outcome !== null) return isLost(Infinity) ? 'lost' : 'over';
      }
      if (rows.length === 0) return isLost(Infinity) ? 'lost' : 'open';
    }
  }

  /** Sends the waiting events, and live events from now on; if waiting events were dropped, it returns these instead. */
  #goLive(reader: RunEventReader): MissedEvents | undefined {
    const dropped = this.#dropped;
    this.#waitingSize = 0;
    this.#dropped = undefined;
    if (dropped) return dropped;
    this.#isLive = true;
    for (const event of this.#waiting) this.#sendLive(reader, event);
    this.#waiting = [];
    if (this.#isEnded) this.#finish(true);
    return undefined;
  }

  #sendLive(reader: RunEventReader, event: RunEvent): void {
    if (event.id >= (this.#nextId ?? 0) && !this.#send(reader, event)) this.#isBehind = true;
  }

  #send(reader: RunEventReader, event: RunEvent): boolean {
    if (this.#nextId !== undefined && event.id > this.#nextId)
      reader.gap?.({ from: this.#nextId, until: event.id });
    this.#nextId = event.id + 1;
    return reader.send(event);
  }
}

/** The events of a row of the log; the first has the row's `first_id`. */
export const eventsOf = ({ events }: Pick<LogRow, 'events'>): [event: string, data: string][] => {
  const lines = events.split('\n');
  const list: [string, string][] = [];
  for (let at = 0; at + 1 < lines.length; at += 2) list.push([lines[at] ?? '', lines[at + 1] ?? '']);
  return list;
};

/** The event that reports a gap. It has no id, so a client continues after the last event that it got. */
export const gapEvent = (run_id: string, { from, until }: MissedEvents): { event: string; data: string } => {
  const message =
    `Events ${from} to ${until - 1} of run ${run_id} are not available: the run is not resumable, or had more events than its log and ` +
    'the buffers hold. The state of the thread and the result of the run contain what they reported';
  return { event: 'gap', data: JSON.stringify({ message, from, to: until - 1 }) };
};

const droppedEvents = (run_id: string, nextId: number, { until }: MissedEvents): Problem =>
  new Problem(
    'unavailable',
    `Events ${nextId} to ${until - 1} of run ${run_id} were dropped, because more than 4 MB of events waited for this stream and the run has ` +
      'no log. The run continues: read its result with GET …/runs/{run_id}/join. Runs with stream_resumable have a log',
  );
