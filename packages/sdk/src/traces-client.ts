import type {
  CallInput,
  Feedback,
  feedbackRoutes,
  IngestAnswer,
  OtlpAnswer,
  RunStats,
  RunTree,
  TraceRun,
  traceRoutes,
  TraceThread,
  traceThreadRoutes,
} from '@svc/contract';
import { path, type CallOptions, type Transport } from './transport.ts';

type Body<K extends keyof typeof traceRoutes> = NonNullable<CallInput<(typeof traceRoutes)[K]>['body']>;

type ThreadQuery = NonNullable<CallInput<(typeof traceThreadRoutes)['queryTraceThreads']>['body']>;
type FeedbackChange = NonNullable<CallInput<(typeof feedbackRoutes)['changeFeedback']>['body']>;
type NewFeedback = NonNullable<CallInput<(typeof feedbackRoutes)['createFeedback']>['body']>;

export interface ThreadPage {
  items: TraceThread[];
  has_more: boolean;
  next_cursor: string | null;
}

/** A run as a tracer tells of it. */
export interface SentTraceRun {
  id: string;
  [field: string]: unknown;
}

export interface RunPage {
  runs: TraceRun[];
  cursors: { next: string | null; prev: null };
}

export class TracesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends runs, and more about runs that were sent before, in any order; what is sent twice counts once.
   * @example await platform.traces.send({ post: [{ id, name: 'step', run_type: 'chain', start_time: new Date() }] });
   */
  send(
    batch: { post?: SentTraceRun[]; patch?: SentTraceRun[] },
    options: CallOptions = {},
  ): Promise<IngestAnswer> {
    return this.#transport.json({ method: 'POST', path: '/api/v1/runs/batch', body: batch, ...options });
  }

  create(run: SentTraceRun, options: CallOptions = {}): Promise<IngestAnswer> {
    return this.#transport.json({ method: 'POST', path: '/api/v1/runs', body: run, ...options });
  }

  /** Adds to a run, whether it has come yet or not. */
  update(id: string, more: Record<string, unknown>, options: CallOptions = {}): Promise<IngestAnswer> {
    return this.#transport.json({ method: 'PATCH', path: path`/api/v1/runs/${id}`, body: more, ...options });
  }

  /** Spans of OpenTelemetry: an OTLP request in its JSON form. */
  sendSpans(
    request: { resourceSpans: Record<string, unknown>[] },
    options: CallOptions & { project?: string } = {},
  ): Promise<OtlpAnswer> {
    const { project, ...rest } = options;
    const headers = project === undefined ? {} : { 'langsmith-project': project };
    const where = '/api/v1/otel/v1/traces';
    return this.#transport.json({ method: 'POST', path: where, body: request, headers, ...rest });
  }

  get(id: string, options: CallOptions = {}): Promise<TraceRun> {
    return this.#transport.json({ method: 'GET', path: path`/api/v1/runs/${id}`, ...options });
  }

  /**
   * A page of runs, newest first unless told otherwise.
   * @example await platform.traces.query({ filter: 'and(eq(run_type, "llm"), gt(latency, "5s"))' });
   */
  query(body: Body<'queryTraceRuns'> = {}, options: CallOptions = {}): Promise<RunPage> {
    return this.#transport.json({ method: 'POST', path: '/api/v1/runs/query', body, ...options });
  }

  /** Counts, times, tokens and costs. */
  stats(body: Body<'getRunStats'> = {}, options: CallOptions = {}): Promise<RunStats> {
    return this.#transport.json({ method: 'POST', path: '/api/v1/runs/stats', body, ...options });
  }

  /** A trace as runs within runs, without payloads. */
  tree(traceId: string, options: CallOptions = {}): Promise<RunTree> {
    return this.#transport.json({ method: 'GET', path: path`/api/v1/traces/${traceId}`, ...options });
  }

  /** Threads of a project, by their newest runs. */
  threads(body: ThreadQuery, options: CallOptions = {}): Promise<ThreadPage> {
    return this.#transport.json({ method: 'POST', path: '/api/v2/threads/query', body, ...options });
  }

  /** Runs of a thread, oldest first. */
  threadRuns(
    threadId: string,
    query: { session_id: string; is_root?: boolean; limit?: number; cursor?: string },
    options: CallOptions = {},
  ): Promise<RunPage> {
    const all = { ...query, thread_id: threadId };
    return this.#transport.json({ method: 'GET', path: '/api/v1/runs/threads', query: all, ...options });
  }

  /** Says what is thought of a run; with the id of an earlier one, in its place. */
  addFeedback(body: NewFeedback, options: CallOptions = {}): Promise<Feedback> {
    return this.#transport.json({ method: 'POST', path: '/api/v1/feedback', body, ...options });
  }

  /** Newest first. */
  feedback(
    query: { run?: string[]; key?: string[]; source?: string[]; limit?: number; offset?: number } = {},
    options: CallOptions = {},
  ): Promise<Feedback[]> {
    return this.#transport.json({ method: 'GET', path: '/api/v1/feedback', query, ...options });
  }

  getFeedback(id: string, options: CallOptions = {}): Promise<Feedback> {
    return this.#transport.json({ method: 'GET', path: path`/api/v1/feedback/${id}`, ...options });
  }

  /** Changes what is given; null takes it away. */
  updateFeedback(id: string, body: FeedbackChange, options: CallOptions = {}): Promise<Feedback> {
    return this.#transport.json({ method: 'PATCH', path: path`/api/v1/feedback/${id}`, body, ...options });
  }

  deleteFeedback(id: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.json({ method: 'DELETE', path: path`/api/v1/feedback/${id}`, ...options });
  }

  /** A file that was sent with a run; its content is base64. */
  attachment(
    id: string,
    name: string,
    options: CallOptions = {},
  ): Promise<{ name: string; content_type: string; content: string }> {
    const where = path`/api/v1/runs/${id}/attachments/${name}`;
    return this.#transport.json({ method: 'GET', path: where, ...options });
  }
}
