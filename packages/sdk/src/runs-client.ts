import type { Run, RunFigures, RunStatus, RunTimeline, StreamMode, WebhookDelivery } from '@svc/contract';
import { RunError } from './api-error.ts';
import { followChanges, type ChangeOptions, type RunChanges } from './run-changes.ts';
import { readJsonEvents } from './sse.ts';
import { pause, type Body, type CallOptions, type Result, type Transport } from './transport.ts';

/** The options of a run, with the names of the API, without the assistant. */
export type RunOptions = Omit<Body<'createRun'> & Body<'createStatelessRun'>, 'assistant_id'>;

export interface StartOptions extends CallOptions {
  /** A name that you choose for the run: a second request with the same name returns the same run. */
  idempotencyKey?: string;
  /** Called when the run has an id, before its result is available. */
  onRunCreated?: (run: { threadId: string; runId: string }) => void;
}

export interface RunStreamEvent {
  id: string | undefined;
  /** The event's stream mode, `mode|namespace` for a subgraph, `metadata` or `error`. */
  event: string;
  data: unknown;
}

/** A page of runs, and the cursor of the next one if there is one. */
export interface RunSearchPage {
  runs: Run[];
  next: string | undefined;
}

/** A page of webhook deliveries, and the cursor of the next one if there is one. */
export interface DeliverySearchPage {
  deliveries: WebhookDelivery[];
  next: string | undefined;
}

const reconnectsMax = 5;

/** The routes that start a run: on a thread, and without one. */
const starts = {
  background: ['createRun', 'createStatelessRun'],
  wait: ['waitRun', 'waitStatelessRun'],
  stream: ['streamRun', 'streamStatelessRun'],
} as const;

/** Opens a stream again, after an event. */
type Resume = (lastEventId: string) => Promise<Response>;

/** The outcome of each run that was named. */
export type CancelledRuns = Result<'cancelRuns'>;

export class RunsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts a run in the background. Without a thread id it is stateless. */
  async create(
    threadId: string | null,
    assistantId: string,
    run: RunOptions = {},
    options: StartOptions = {},
  ): Promise<Run> {
    const response = await this.#start(starts.background, threadId, assistantId, run, options);
    return (await response.json()) as Run;
  }

  createBatch(runs: (RunOptions & { assistant_id: string })[], options: CallOptions = {}): Promise<Run[]> {
    return this.#transport.call('createRunBatch', { body: runs }, options);
  }

  /**
   * Runs and waits for the final values. Throws RunError when the run fails, unless `raiseError` is false.
   * @example const { messages } = await client.runs.wait(threadId, 'agent', { input: { messages: [{ role: 'user', content: 'hi' }] } });
   */
  async wait<T = Record<string, unknown>>(
    threadId: string | null,
    assistantId: string,
    run: RunOptions = {},
    { raiseError = true, ...options }: StartOptions & { raiseError?: boolean } = {},
  ): Promise<T> {
    const response = await this.#start(starts.wait, threadId, assistantId, run, options);
    return result<T>(await response.json(), raiseError);
  }

  /**
   * Runs and yields events. When the connection breaks, the stream of a run with `stream_resumable` continues where it broke.
   * @example for await (const { event, data } of client.runs.stream(threadId, 'agent', { input, stream_mode: 'updates' })) console.log(event, data);
   */
  async *stream(
    threadId: string | null,
    assistantId: string,
    run: RunOptions = {},
    options: StartOptions = {},
  ): AsyncGenerator<RunStreamEvent> {
    const response = await this.#start(starts.stream, threadId, assistantId, run, options);
    const location = run.stream_resumable ? response.headers.get('location') : null;
    const resume = location === null ? undefined : this.#resumeAt(location, options);
    yield* this.#follow(response, undefined, resume, options);
  }

  /** Events of a run that has started. With `lastEventId` the stream begins after that event (`-1` for all events that are kept). */
  async *joinStream(
    threadId: string | null,
    runId: string,
    {
      lastEventId,
      streamMode,
      ...options
    }: CallOptions & { lastEventId?: string; streamMode?: StreamMode[] } = {},
  ): AsyncGenerator<RunStreamEvent> {
    const join = (after: string | undefined, stream_mode?: StreamMode[]): Promise<Response> => {
      const query = { stream_mode };
      const request = { ...options, headers: afterEvent(after), unbounded: true };
      return threadId === null
        ? this.#transport.open('joinStatelessRunStream', { params: { run_id: runId }, query }, request)
        : this.#transport.open(
            'joinRunStream',
            { params: { thread_id: threadId, run_id: runId }, query },
            request,
          );
    };
    const first = await join(lastEventId, streamMode);
    yield* this.#follow(first, lastEventId, lastEventId === undefined ? undefined : join, options);
  }

  /** Waits for a run that has started; returns at once when it has ended. */
  async join<T = Record<string, unknown>>(
    threadId: string,
    runId: string,
    options: CallOptions = {},
  ): Promise<T> {
    const params = { thread_id: threadId, run_id: runId };
    return result<T>(
      await this.#transport.call('joinRun', { params }, { ...options, unbounded: true }),
      true,
    );
  }

  get(threadId: string, runId: string, options: CallOptions = {}): Promise<Run> {
    return this.#transport.call('getRun', { params: { thread_id: threadId, run_id: runId } }, options);
  }

  /** Runs of a thread, newest first. */
  list(
    threadId: string,
    {
      limit,
      offset,
      status,
      ...options
    }: { limit?: number; offset?: number; status?: RunStatus } & CallOptions = {},
  ): Promise<Run[]> {
    const query = { limit, offset, status };
    return this.#transport.call('listRuns', { params: { thread_id: threadId }, query }, options);
  }

  /** Like `search`, with the cursor of the next page: `cursor` in the body of the next call. */
  async searchPage(body: Body<'searchRuns'> = {}, options: CallOptions = {}): Promise<RunSearchPage> {
    const response = await this.#transport.open('searchRuns', { body }, options);
    return {
      runs: (await response.json()) as Run[],
      next: response.headers.get('x-pagination-next') ?? undefined,
    };
  }

  /**
   * Runs across threads, newest first: one page.
   *
   * @example await client.runs.search({ status: ['error', 'timeout'], graph_id: 'agent', created_after: '2026-01-31T12:00:00Z' });
   */
  search(body: Body<'searchRuns'> = {}, options: CallOptions = {}): Promise<Run[]> {
    return this.#transport.call('searchRuns', { body }, options);
  }

  /**
   * How many runs ended and how, and how long they waited and executed, for each interval of the last hour or another time.
   *
   * @example const { points } = await client.runs.figures({ graph_id: 'agent', interval_seconds: 60 });
   */
  figures(body: Body<'getRunFigures'> = {}, options: CallOptions = {}): Promise<RunFigures> {
    return this.#transport.call('getRunFigures', { body }, options);
  }

  /** When a run waited, and for what, its attempts and its steps. */
  timeline(threadId: string, runId: string, options: CallOptions = {}): Promise<RunTimeline> {
    const params = { thread_id: threadId, run_id: runId };
    return this.#transport.call('getRunTimeline', { params }, options);
  }

  /**
   * Notifies that runs were created or have changed, at most once in a second. Does not end by itself. After an interruption, and at first,
   * it yields a notification without threads: read again what you show.
   *
   * @example for await (const change of client.runs.changes()) if (change.event === 'runs') console.log(change.thread_ids ?? 'any thread');
   */
  changes(options: ChangeOptions = {}): AsyncGenerator<RunChanges> {
    const open = (signal: AbortSignal): Promise<Response> =>
      this.#transport.open('streamRunChanges', {}, { unbounded: true, signal });
    return followChanges(open, options);
  }

  /**
   * Sends an input into a run, which takes it before its next superstep. Returns the run that holds the input: it follows if the other run ends before.
   * @example await client.runs.sendInput(threadId, runId, { messages: [{ role: 'user', content: 'in Oslo, please' }] });
   */
  async sendInput(
    threadId: string,
    runId: string,
    input: Record<string, unknown>,
    {
      idempotencyKey,
      metadata,
      ...options
    }: CallOptions & { idempotencyKey?: string; metadata?: Record<string, unknown> } = {},
  ): Promise<Run> {
    const params = { thread_id: threadId, run_id: runId };
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.#transport.call(
      'sendRunInput',
      { params, body: { input, metadata } },
      { ...options, headers },
    );
  }

  /**
   * Stops a run. With `wait`, resolves after the run's last write. `rollback` also removes the run and its checkpoints.
   * Fails with not_found when the run has already ended.
   */
  async cancel(
    threadId: string,
    runId: string,
    {
      wait = false,
      action,
      ...options
    }: { wait?: boolean; action?: 'interrupt' | 'rollback' } & CallOptions = {},
  ): Promise<void> {
    const params = { thread_id: threadId, run_id: runId };
    const query = { wait: wait ? '1' : undefined, action } as const;
    await this.#transport.open('cancelRun', { params, query }, { ...options, unbounded: wait });
  }

  /** Stops named runs of a thread and returns the outcome of each, or stops every run that has a status. */
  async cancelMany(
    which: { threadId: string; runIds: string[] } | { status: 'pending' | 'running' | 'all' },
    { action, ...options }: { action?: 'interrupt' | 'rollback' } & CallOptions = {},
  ): Promise<CancelledRuns | undefined> {
    const body = 'status' in which ? which : { thread_id: which.threadId, run_ids: which.runIds };
    return this.#transport.call('cancelRuns', { query: { action }, body }, options);
  }

  /** Deletes a run that has ended, with the checkpoints it created. */
  delete(threadId: string, runId: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.call('deleteRun', { params: { thread_id: threadId, run_id: runId } }, options);
  }

  /** Deliveries to the webhook of a run: attempts, responses, and the time of the next attempt. */
  webhooks(threadId: string, runId: string, options: CallOptions = {}): Promise<WebhookDelivery[]> {
    const params = { thread_id: threadId, run_id: runId };
    return this.#transport.call('listRunWebhooks', { params }, options);
  }

  /** Sends a delivery that failed, or that waits for its next attempt, now. After a failure the count of attempts restarts at 0. */
  retryWebhook(
    threadId: string,
    runId: string,
    deliveryId: string,
    options: CallOptions = {},
  ): Promise<WebhookDelivery> {
    const params = { thread_id: threadId, run_id: runId, delivery_id: deliveryId };
    return this.#transport.call('retryWebhookDelivery', { params }, options);
  }

  /** Deliveries to webhooks across runs, newest first: one page. `cursor` in the body of the next call is its `next`. */
  async searchWebhooks(
    body: Body<'searchWebhookDeliveries'> = {},
    options: CallOptions = {},
  ): Promise<DeliverySearchPage> {
    const response = await this.#transport.open('searchWebhookDeliveries', { body }, options);
    return {
      deliveries: (await response.json()) as WebhookDelivery[],
      next: response.headers.get('x-pagination-next') ?? undefined,
    };
  }

  async #start(
    [stateful, stateless]: (typeof starts)[keyof typeof starts],
    threadId: string | null,
    assistantId: string,
    run: RunOptions,
    { idempotencyKey, onRunCreated, signal }: StartOptions,
  ): Promise<Response> {
    const body = { ...run, assistant_id: assistantId };
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    const request = { headers, unbounded: true, signal };
    const response = await (threadId === null
      ? this.#transport.open(stateless, { body }, request)
      : this.#transport.open(stateful, { params: { thread_id: threadId }, body }, request));
    const created = /\/threads\/([^/]+)\/runs\/([^/]+)/.exec(response.headers.get('content-location') ?? '');
    if (created) onRunCreated?.({ threadId: created[1] ?? '', runId: created[2] ?? '' });
    return response;
  }

  #resumeAt(location: string, { signal }: CallOptions): Resume {
    return (after) =>
      this.#transport.follow(location, { headers: afterEvent(after), unbounded: true, signal });
  }

  /** Reads to the end of the stream. When the connection breaks, `resume` opens the stream again after the last event. */
  async *#follow(
    first: Response,
    after: string | undefined,
    resume: Resume | undefined,
    options: CallOptions,
  ): AsyncGenerator<RunStreamEvent> {
    let response = first;
    let lastId = after;
    for (let broken = 0; ;) {
      try {
        for await (const event of readJsonEvents(response.body)) {
          lastId = event.id ?? lastId;
          broken = 0;
          yield event;
        }
        return;
      } catch (error) {
        if (resume === undefined || options.signal?.aborted || ++broken > reconnectsMax) throw error;
        await pause(200 * 2 ** broken, options.signal);
        response = await resume(lastId ?? '-1');
      }
    }
  }
}

const afterEvent = (id: string | undefined): Record<string, string> =>
  id === undefined ? {} : { 'last-event-id': id };

const result = <T>(values: unknown, raiseError: boolean): T => {
  const failure = (values as { __error__?: { error: string; message: string } } | null)?.__error__;
  if (failure && raiseError) throw new RunError(failure);
  return values as T;
};
