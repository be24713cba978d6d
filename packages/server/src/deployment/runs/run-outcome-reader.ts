// Reads the events and the outcome of existing runs, on whichever node they execute.
import { notFound } from '@svc/contract/problem';
import type { RunLogTail } from '../../engine/streams/run-log-tail.ts';
import { textOf } from '../../parsing/json-bytes.ts';
import type { RunEventHub, RunEventStream, RunOutcome } from '../../engine/streams/run-event-hub.ts';
import type { RunSubscription } from '../../engine/streams/run-subscription.ts';
import type { Dispatcher } from '../../engine/dispatch/dispatcher.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import type { RunAudience, RunRow } from '../../storage/deployment/runs/run-rows.ts';
import { stateAtHead } from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { Storage } from '../../storage/storage.ts';
import { DeferredResponse } from '../../api/handlers.ts';
import type { StateReader } from '../threads/state-reader.ts';
import { unlessGone } from '../unless-gone.ts';

type Stores = Pick<Storage, 'checkpoints' | 'runs' | 'threads'>;

export class RunOutcomeReader {
  readonly #storage: Stores;
  readonly #dispatcher: Pick<Dispatcher, 'has' | 'listen'>;
  readonly #streams: RunEventHub;
  readonly #tail: RunLogTail;
  readonly #reader: StateReader;

  constructor(parts: {
    storage: Stores;
    dispatcher: Pick<Dispatcher, 'has' | 'listen'>;
    streams: RunEventHub;
    tail: RunLogTail;
    reader: StateReader;
  }) {
    this.#storage = parts.storage;
    this.#dispatcher = parts.dispatcher;
    this.#streams = parts.streams;
    this.#tail = parts.tail;
    this.#reader = parts.reader;
  }

  /**
   * The final values as JSON text, when the run has ended. An error is reported in the body as `__error__`, because the response headers
   * may be sent long before. Throws `not_found`.
   */
  async join(thread_id: string, run_id: string, access: RowFilter): Promise<DeferredResponse> {
    // The stream is opened before the row is read, so that an end between the two is not missed.
    const stream = this.#streams.open(run_id);
    const release = stream.retain();
    try {
      let row = await this.#find(run_id, thread_id, access);
      if (!isOver(row) && (await this.#connect(stream, 'outcome'))) {
        return new DeferredResponse(this.result(row, stream.outcome).finally(release));
      }
      if (!isOver(row)) row = await this.#find(run_id, thread_id, access);
      release();
      return new DeferredResponse(this.#stored(row));
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The response of `wait`. Values that the executor did not send are read from the checkpoint that the run left. */
  async result(run: Pick<RunRow, 'run_id' | 'thread_id'>, ending: Promise<RunOutcome>): Promise<string> {
    const { values, error, status } = await ending;
    if (error) return JSON.stringify({ __error__: error });
    return values === undefined ? this.#result({ ...run, status }) : (values ?? 'null');
  }

  /** The values of the checkpoint that the run left, without interrupts. */
  async values(run: Pick<RunRow, 'run_id' | 'thread_id'>): Promise<string> {
    const { thread, last } = await this.#last(run);
    if (!thread || !last) return 'null';
    return textOf((await this.#reader.values(thread, last.checkpoint).catch(unlessGone)) ?? 'null');
  }

  /** Resolves when the run has ended; at once when it does not exist. */
  async untilEnded(run_id: string): Promise<void> {
    const stream = this.#streams.open(run_id);
    const release = stream.retain();
    try {
      if (await this.#connect(stream, 'outcome')) await stream.outcome;
    } finally {
      release();
    }
  }

  /** Subscribes to the run's events after an id, or from now on. Without a thread id, the run is stateless. Throws `not_found`. */
  async subscribe(
    thread_id: string | null,
    run_id: string,
    access: RowFilter,
    after?: number,
  ): Promise<RunSubscription> {
    const stream = this.#streams.open(run_id);
    const subscription = stream.subscribe(after);
    try {
      const row = await this.#find(run_id, thread_id ?? undefined, access);
      if (isOver(row) || !(await this.#connect(stream, 'events'))) subscription.leaveStream();
      return subscription;
    } catch (error) {
      subscription.close();
      throw error;
    }
  }

  /** Connects the stream to its source: the executor here, or the run log. False when the run has ended or does not exist. */
  async #connect(stream: RunEventStream, log: RunAudience): Promise<boolean> {
    const { run_id } = stream;
    if (log === 'events') stream.streamed = true;
    if (this.#dispatcher.has(run_id)) {
      if (log === 'events') this.#dispatcher.listen(run_id);
      return true;
    }
    const status = await this.#storage.runs.follow(run_id, log);
    if (status !== 'pending' && status !== 'running') return stream.isEnded;
    // This node may have claimed the run meanwhile.
    if (!this.#dispatcher.has(run_id)) this.#tail.follow(stream);
    else if (log === 'events') this.#dispatcher.listen(run_id);
    return true;
  }

  async #find(run_id: string, thread_id: string | undefined, access: RowFilter): Promise<RunRow> {
    const row = await this.#storage.runs.find(run_id, thread_id, access);
    if (!row) throw notFound('Run', run_id);
    return row;
  }

  async #stored(row: RunRow): Promise<string> {
    if (row.error !== null) return JSON.stringify({ __error__: JSON.parse(row.error) });
    return row.temporary ? 'null' : this.#result(row);
  }

  /** The values that the run left, with `__interrupt__` when it reached interrupts that have no answer yet. */
  async #result(run: Pick<RunRow, 'run_id' | 'thread_id' | 'status'>): Promise<string> {
    const { thread, left, last } = await this.#last(run);
    if (!thread || !last) return 'null';
    // A run that was cancelled leaves the interrupts that it has found.
    const reached = run.status === 'success' ? left : undefined;
    const [values, interrupts] = await Promise.all([
      this.#reader.values(thread, last.checkpoint).catch(unlessGone),
      reached && this.#reader.openInterrupts(thread, reached).catch(unlessGone),
    ]);
    return withInterrupts(textOf(values ?? 'null'), interrupts ?? []);
  }

  /** `last`: the checkpoint that the run left, or the thread's newest one if it was deleted or the run never began. */
  async #last({ run_id, thread_id }: Pick<RunRow, 'run_id' | 'thread_id'>) {
    const { threads, checkpoints } = this.#storage;
    const [thread, left] = await Promise.all([
      threads.find(thread_id, everyRow),
      checkpoints.findLeft(run_id),
    ]);
    const last = left ?? (await checkpoints.find({ thread_id, checkpoint_ns: '' }));
    return { thread, left, last: last && stateAtHead(last).stored };
  }
}

/** The result that the executor of an interrupted run sends: its values and `__interrupt__`. */
const withInterrupts = (values: string, interrupts: unknown[]): string => {
  if (interrupts.length === 0) return values;
  const field = `"__interrupt__":${JSON.stringify(interrupts)}}`;
  const hasValues = values.startsWith('{') && values !== '{}';
  return hasValues ? `${values.slice(0, -1)},${field}` : `{${field}`;
};

const isOver = (row: RunRow): boolean => row.status !== 'pending' && row.status !== 'running';
