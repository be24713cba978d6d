// Runs: one assistant applied to one thread, or to none.
import { randomUUID } from 'node:crypto';
import type { Run } from '@svc/contract';
import { notFound, Problem } from '@svc/contract/problem';
import type { RunOutcome, RunStreams, Subscription } from '../../events/run-streams.ts';
import type { Dispatcher } from '../../runtime/dispatcher.ts';
import type { RunKwargs } from '../../runtime/protocol.ts';
import { runOrder, type Audience } from '../../runtime/run-order.ts';
import type { NewRun, RunRow, RunSetting } from '../../storage/runs.ts';
import type { Storage } from '../../storage/storage.ts';
import { Late } from '../handlers.ts';
import { assistantIdOf } from '../assistants/default-assistant.ts';
import type { StateReader } from '../threads/state-reader.ts';

/** A run as a client asks for it, validated. */
export interface RunRequest {
  assistant_id: string;
  kwargs: RunKwargs;
  metadata: Record<string, unknown>;
  multitask_strategy: 'enqueue' | 'reject' | 'interrupt' | 'rollback';
  if_not_exists: 'create' | 'reject';
  /** Whether the run ends with the connection that asked for it. */
  cancelOnDisconnect: boolean;
  /** Milliseconds before the run may start. */
  delayMs: number;
  /** Stateless runs only: whether the thread that the run made stays. */
  keep: boolean;
}

/** What came of an attempt to follow a run: its events, or how it ended. */
export interface Followed {
  run: Run;
  events: Subscription;
  outcome: Promise<RunOutcome>;
}

export class RunService {
  readonly #storage: Storage;
  readonly #dispatcher: Dispatcher;
  readonly #streams: RunStreams;
  readonly #reader: StateReader;
  readonly #graphs: ReadonlySet<string>;

  constructor(parts: {
    storage: Storage;
    dispatcher: Dispatcher;
    streams: RunStreams;
    reader: StateReader;
    graphs: ReadonlySet<string>;
  }) {
    this.#storage = parts.storage;
    this.#dispatcher = parts.dispatcher;
    this.#streams = parts.streams;
    this.#reader = parts.reader;
    this.#graphs = parts.graphs;
  }

  /** Stores the run and starts it when a slot and its thread are free. Without a thread id it is stateless. */
  async create(thread_id: string | null, request: RunRequest): Promise<Run> {
    const { run, events } = await this.#create(thread_id, request, {});
    events.close();
    return run;
  }

  /** Like create, with the run's events from the first one on. */
  stream(thread_id: string | null, request: RunRequest): Promise<Followed> {
    return this.#create(thread_id, request, { streamed: true });
  }

  /** Like create, with the run's final values. */
  async wait(thread_id: string | null, request: RunRequest): Promise<Followed> {
    const followed = await this.#create(thread_id, request, { awaited: true });
    followed.events.close();
    return followed;
  }

  /** The client that a run was for has gone: stops its attempt, if it still runs here. */
  abandon(run_id: string): void {
    this.#dispatcher.cancel(run_id);
  }

  async get(thread_id: string, run_id: string): Promise<Run> {
    return toRun(await this.#row(run_id, thread_id));
  }

  async list(
    thread_id: string,
    page: { status?: string | undefined; limit: number; offset: number },
  ): Promise<Run[]> {
    if (!(await this.#storage.threads.find(thread_id))) throw notFound('Thread', thread_id);
    return (await this.#storage.runs.list(thread_id, page)).map(toRun);
  }

  async delete(thread_id: string, run_id: string): Promise<void> {
    const outcome = await this.#storage.runs.delete(run_id, thread_id);
    if (outcome === 'missing') throw notFound('Run', run_id);
    if (outcome === 'in_flight')
      throw new Problem('conflict', `Run ${run_id} has not ended; wait for it first`);
  }

  /** What `wait` would have answered: at once when the run is over, else when it ends. */
  async join(thread_id: string, run_id: string): Promise<Late> {
    // The stream first: a run that ends between the two is then seen by one of them.
    const stream = this.#streams.open(run_id);
    const row = await this.#storage.runs.find(run_id, thread_id);
    if (row && !isOver(row)) return new Late(this.#laterOutcome(stream.outcome, row));
    this.#streams.discard(run_id);
    if (!row) throw notFound('Run', run_id);
    return new Late(this.#storedOutcome(row));
  }

  /**
   * Events of a run: those kept after `after` (an event id; -1 for all), then live ones until it ends.
   * Undefined for a run that is over and whose events are not kept.
   */
  async joinStream(
    thread_id: string | null,
    run_id: string,
    after?: number,
  ): Promise<Subscription | undefined> {
    const events = this.#streams.open(run_id, { streamed: true }).subscribe(after);
    this.#dispatcher.listen(run_id);
    const row = await this.#storage.runs.find(run_id, thread_id ?? undefined);
    if (row && !isOver(row)) return events;
    const isKept = row && this.#streams.find(run_id)?.isEnded;
    if (isKept) return events;
    events.close();
    this.#streams.discard(run_id);
    if (!row) throw notFound('Run', run_id);
    return undefined;
  }

  async #create(thread_id: string | null, request: RunRequest, audience: Audience): Promise<Followed> {
    const run_id = randomUUID();
    const isTemporary = thread_id === null && !request.keep;
    const claim = request.delayMs === 0 && this.#dispatcher.reserve();
    const run: NewRun = {
      run_id,
      thread_id: thread_id ?? (isTemporary ? null : randomUUID()),
      assistant_id: assistantIdOf(request.assistant_id),
      metadata: request.metadata,
      kwargs: JSON.stringify(request.kwargs),
      multitask_strategy: request.multitask_strategy,
      create_thread: thread_id === null || request.if_not_exists === 'create',
      claim,
      leaseMs: this.#dispatcher.leaseMs,
      delayMs: request.delayMs,
    };
    const stream = this.#streams.open(run_id, {
      ...audience,
      resumable: request.kwargs.stream_resumable === true,
    });
    const events = stream.subscribe();
    try {
      const setting = await this.#insert(run, request);
      const record = toRun({
        ...run,
        ...setting,
        temporary: isTemporary,
        error: null,
        attempt: setting.status === 'running' ? 1 : 0,
        updated_at: setting.created_at,
      });
      if (setting.status === 'running')
        this.#dispatcher.start(
          runOrder(
            { ...run, temporary: isTemporary, attempt: 1, lease_token: setting.lease_token },
            setting,
            stream,
          ),
        );
      else this.#dispatcher.wake(run_id);
      return { run: record, events, outcome: stream.outcome };
    } catch (error) {
      events.close();
      this.#streams.discard(run_id);
      throw error;
    } finally {
      if (claim) this.#dispatcher.unreserve();
    }
  }

  async #insert(run: NewRun, request: RunRequest): Promise<RunSetting> {
    const created = await this.#storage.runs.create(run);
    switch (created.outcome) {
      case 'created':
        return created;
      case 'no_assistant':
        throw this.#graphs.has(request.assistant_id) || !isGraphId(request.assistant_id)
          ? notFound('Assistant', request.assistant_id)
          : new Problem(
              'not_found',
              `There is no assistant and no graph ${JSON.stringify(request.assistant_id)}; graphs here: ${[...this.#graphs].join(', ')}`,
            );
      case 'no_thread':
        throw notFound('Thread', run.thread_id ?? '');
      case 'busy':
        throw new Problem(
          'conflict',
          'The thread is busy with another run. Wait for it, or choose another multitask_strategy',
        );
    }
  }

  async #row(run_id: string, thread_id: string): Promise<RunRow> {
    const row = await this.#storage.runs.find(run_id, thread_id);
    if (!row) throw notFound('Run', run_id);
    return row;
  }

  /** Values that were not sent along are those of the thread's newest checkpoint. */
  async #laterOutcome(ending: Promise<RunOutcome>, row: RunRow): Promise<string> {
    const outcome = await ending;
    return outcome.values === undefined && !outcome.error ? this.#storedOutcome(row) : resultText(outcome);
  }

  async #storedOutcome(row: RunRow): Promise<string> {
    if (row.error !== null) return JSON.stringify({ __error__: JSON.parse(row.error) });
    const [thread, head] = await Promise.all([
      this.#storage.threads.find(row.thread_id),
      this.#storage.checkpoints.find({ thread_id: row.thread_id, checkpoint_ns: '' }),
    ]);
    if (!thread || !head) return 'null';
    return JSON.stringify(await this.#reader.values(thread.blob_space, head));
  }
}

const isGraphId = (id: string): boolean => !/^[0-9a-f-]{36}$/i.test(id);

const isOver = (row: RunRow): boolean => row.status !== 'pending' && row.status !== 'running';

/** What `wait` and `join` answer. A failure is told inside the body: the head may long be on its way. */
export const resultText = ({ values, error }: RunOutcome): string =>
  error ? JSON.stringify({ __error__: error }) : (values ?? 'null');

type RunFields = Omit<RunRow, 'lease_token'>;

export const toRun = (row: RunFields): Run => {
  const { kwargs, error, temporary: _, attempt, ...run } = row;
  return {
    run_id: run.run_id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    created_at: run.created_at,
    updated_at: run.updated_at,
    status: run.status,
    metadata: run.metadata,
    multitask_strategy: run.multitask_strategy,
    kwargs: JSON.parse(kwargs),
    attempt,
    ...(error === null ? {} : { error: JSON.parse(error) }),
  } as Run;
};
