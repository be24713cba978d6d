import type {
  CallInput,
  RouteOutput,
  Run,
  RunStatus,
  StreamMode,
  WebhookDelivery,
  runRoutes,
} from '@svc/contract';
import { RunError } from './api-error.ts';
import { readEvents, type ServerEvent } from './sse.ts';
import { path, pause, type CallOptions, type Transport } from './transport.ts';

type Stateful = NonNullable<CallInput<(typeof runRoutes)['createRun']>['body']>;
type Stateless = NonNullable<CallInput<(typeof runRoutes)['createStatelessRun']>['body']>;

/** The options of a run, as the API names them, without the assistant. */
export type RunOptions = Omit<Stateful & Stateless, 'assistant_id'>;

export interface StartOptions extends CallOptions {
  /** Your name for the run: asked for again with the same one, it is not made again. */
  idempotencyKey?: string;
  /** Called as soon as the run has an id, before its result is there. */
  onRunCreated?: (run: { threadId: string; runId: string }) => void;
}

export interface RunStreamEvent {
  id: string | undefined;
  /** The mode it belongs to, `mode|namespace` for a subgraph, `metadata` or `error`. */
  event: string;
  data: unknown;
}

const reconnectsMax = 5;

/** What became of each run that was to be cancelled. */
export type CancelledRuns = RouteOutput<typeof runRoutes.cancelRuns>;

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
    const response = await this.#start('', threadId, assistantId, run, options);
    return (await response.json()) as Run;
  }

  createBatch(runs: (RunOptions & { assistant_id: string })[], options: CallOptions = {}): Promise<Run[]> {
    return this.#transport.json({ method: 'POST', path: '/runs/batch', body: runs, ...options });
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
    const response = await this.#start('/wait', threadId, assistantId, run, options);
    return result<T>(await response.json(), raiseError);
  }

  /**
   * Runs and yields what happens. The stream of a run with `stream_resumable` goes on where it broke off.
   * @example for await (const { event, data } of client.runs.stream(threadId, 'agent', { input, stream_mode: 'updates' })) console.log(event, data);
   */
  async *stream(
    threadId: string | null,
    assistantId: string,
    run: RunOptions = {},
    options: StartOptions = {},
  ): AsyncGenerator<RunStreamEvent> {
    const response = await this.#start('/stream', threadId, assistantId, run, options);
    const location = run.stream_resumable ? response.headers.get('location') : null;
    yield* this.#follow(response, location, undefined, options);
  }

  /** Events of a run that is under way; with `lastEventId` those after it that are kept (`-1` for all). */
  async *joinStream(
    threadId: string | null,
    runId: string,
    {
      lastEventId,
      streamMode,
      ...options
    }: CallOptions & { lastEventId?: string; streamMode?: StreamMode[] } = {},
  ): AsyncGenerator<RunStreamEvent> {
    const where =
      threadId === null ? path`/runs/${runId}/stream` : path`/threads/${threadId}/runs/${runId}/stream`;
    const response = await this.#open(where, lastEventId, { stream_mode: streamMode }, options);
    yield* this.#follow(response, lastEventId === undefined ? null : where, lastEventId, options);
  }

  /** Waits for a run that is under way; at once when it is over. */
  async join<T = Record<string, unknown>>(
    threadId: string,
    runId: string,
    options: CallOptions = {},
  ): Promise<T> {
    const where = path`/threads/${threadId}/runs/${runId}/join`;
    return result<T>(
      await this.#transport.json({ method: 'GET', path: where, unbounded: true, ...options }),
      true,
    );
  }

  get(threadId: string, runId: string, options: CallOptions = {}): Promise<Run> {
    return this.#transport.json({
      method: 'GET',
      path: path`/threads/${threadId}/runs/${runId}`,
      ...options,
    });
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
    return this.#transport.json({ method: 'GET', path: path`/threads/${threadId}/runs`, query, ...options });
  }

  /**
   * Stops a run. With `wait`, resolves once it writes nothing any more. `rollback` also removes it and its checkpoints.
   * Fails with not_found when it is over already.
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
    const where = path`/threads/${threadId}/runs/${runId}/cancel`;
    const query = { wait: wait ? '1' : undefined, action };
    await this.#transport.send({ method: 'POST', path: where, query, unbounded: wait, ...options });
  }

  /** Stops named runs of a thread, and returns what became of each; or every run with a status. */
  async cancelMany(
    which: { threadId: string; runIds: string[] } | { status: 'pending' | 'running' | 'all' },
    { action, ...options }: { action?: 'interrupt' | 'rollback' } & CallOptions = {},
  ): Promise<CancelledRuns | undefined> {
    const body = 'status' in which ? which : { thread_id: which.threadId, run_ids: which.runIds };
    const query = { action };
    return this.#transport.json({ method: 'POST', path: '/runs/cancel', query, body, ...options });
  }

  /** Deletes a run that is over, with the checkpoints it made. */
  delete(threadId: string, runId: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.json({
      method: 'DELETE',
      path: path`/threads/${threadId}/runs/${runId}`,
      ...options,
    });
  }

  /** What became of the webhook of a run: attempts, answers, and when the next one is due. */
  webhooks(threadId: string, runId: string, options: CallOptions = {}): Promise<WebhookDelivery[]> {
    return this.#transport.json({
      method: 'GET',
      path: path`/threads/${threadId}/runs/${runId}/webhooks`,
      ...options,
    });
  }

  async #start(
    kind: string,
    threadId: string | null,
    assistantId: string,
    run: RunOptions,
    options: StartOptions,
  ): Promise<Response> {
    const base = threadId === null ? '/runs' : path`/threads/${threadId}/runs`;
    const response = await this.#transport.send({
      method: 'POST',
      path: base + kind,
      body: { ...run, assistant_id: assistantId },
      ...(options.idempotencyKey === undefined
        ? {}
        : { headers: { 'idempotency-key': options.idempotencyKey } }),
      unbounded: true,
      signal: options.signal,
    });
    const created = /\/threads\/([^/]+)\/runs\/([^/]+)/.exec(response.headers.get('content-location') ?? '');
    if (created) options.onRunCreated?.({ threadId: created[1] ?? '', runId: created[2] ?? '' });
    return response;
  }

  #open(
    where: string,
    lastEventId: string | undefined,
    query: Record<string, unknown>,
    { signal }: CallOptions,
  ): Promise<Response> {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return this.#transport.send({ method: 'GET', path: where, query, headers, unbounded: true, signal });
  }

  /** Reads to the end; when the connection breaks and there is a place to go on from, from there. */
  async *#follow(
    first: Response,
    location: string | null,
    after: string | undefined,
    options: CallOptions,
  ): AsyncGenerator<RunStreamEvent> {
    let response = first;
    let lastId = after;
    for (let broken = 0; ;) {
      try {
        if (!response.body) return;
        for await (const event of readEvents(response.body)) {
          lastId = event.id ?? lastId;
          broken = 0;
          yield parsed(event);
        }
        return;
      } catch (error) {
        if (location === null || options.signal?.aborted || ++broken > reconnectsMax) throw error;
        await pause(200 * 2 ** broken, options.signal);
        response = await this.#open(location, lastId ?? '-1', {}, options);
      }
    }
  }
}

const parsed = ({ id, event, data }: ServerEvent): RunStreamEvent => ({
  id,
  event,
  data: JSON.parse(data) as unknown,
});

const result = <T>(values: unknown, raiseError: boolean): T => {
  const failure = (values as { __error__?: { error: string; message: string } } | null)?.__error__;
  if (failure && raiseError) throw new RunError(failure);
  return values as T;
};
