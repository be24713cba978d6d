import type {
  Feedback,
  IngestAnswer,
  OtlpAnswer,
  RunStats,
  RunStatsSeries,
  RunTree,
  TraceRun,
} from '@svc/contract';
import type { Body, CallOptions, Query, Result, Transport } from './transport.ts';

/** A page of threads. `is_partial`: the search used up its time budget, and the cursor continues. */
export type ThreadPage = Result<'queryTraceThreads'>;

/** A page of trace runs. `is_partial`: the search used up its time budget, and the cursor continues. */
export type RunPage = Result<'queryTraceRuns'>;

/** A trace run as a tracer sends it. */
export interface SentTraceRun {
  id: string;
  [field: string]: unknown;
}

export class TracesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends new trace runs and changes of trace runs, in any order. Sending the same write twice has no further effect.
   * @example await platform.traces.send({ post: [{ id, name: 'step', run_type: 'chain', start_time: new Date() }] });
   */
  send(
    batch: { post?: SentTraceRun[]; patch?: SentTraceRun[] },
    options: CallOptions = {},
  ): Promise<IngestAnswer> {
    return this.#transport.call('ingestBatch', { body: batch }, options);
  }

  create(run: SentTraceRun, options: CallOptions = {}): Promise<IngestAnswer> {
    return this.#transport.call('ingestRun', { body: run }, options);
  }

  /** Adds fields to a trace run, which may arrive before or after this request. */
  update(id: string, more: Record<string, unknown>, options: CallOptions = {}): Promise<IngestAnswer> {
    return this.#transport.call('ingestRunPatch', { params: { id }, body: more }, options);
  }

  /** Sends OpenTelemetry spans: an OTLP request in its JSON form. */
  sendSpans(
    request: { resourceSpans: Record<string, unknown>[] },
    options: CallOptions & { project?: string } = {},
  ): Promise<OtlpAnswer> {
    const { project, ...rest } = options;
    const headers = project === undefined ? {} : { 'langsmith-project': project };
    return this.#transport.call('ingestOtlp', { body: request }, { headers, ...rest });
  }

  get(id: string, options: CallOptions = {}): Promise<TraceRun> {
    return this.#transport.call('getTraceRun', { params: { id } }, options);
  }

  /**
   * A page of trace runs, newest first by default.
   * @example await platform.traces.query({ filter: 'and(eq(run_type, "llm"), gt(latency, "5s"))' });
   */
  query(body: Body<'queryTraceRuns'> = {}, options: CallOptions = {}): Promise<RunPage> {
    return this.#transport.call('queryTraceRuns', { body }, options);
  }

  /** Counts, times, tokens and costs. */
  stats(body: Body<'getRunStats'> = {}, options: CallOptions = {}): Promise<RunStats> {
    return this.#transport.call('getRunStats', { body }, options);
  }

  /** Counts, times, tokens and costs for each interval of a time range; of the last hour by default. */
  statsSeries(body: Body<'getRunStatsSeries'> = {}, options: CallOptions = {}): Promise<RunStatsSeries> {
    return this.#transport.call('getRunStatsSeries', { body }, options);
  }

  /** A trace as a tree of trace runs, without payloads. */
  tree(traceId: string, options: CallOptions = {}): Promise<RunTree> {
    return this.#transport.call('getTrace', { params: { trace_id: traceId } }, options);
  }

  /** Threads of a project, ordered by their newest runs. */
  threads(body: Body<'queryTraceThreads'>, options: CallOptions = {}): Promise<ThreadPage> {
    return this.#transport.call('queryTraceThreads', { body }, options);
  }

  /** Trace runs of a thread, oldest first. */
  threadRuns(
    threadId: string,
    query: Omit<Query<'listRunsOfTraceThread'>, 'thread_id'>,
    options: CallOptions = {},
  ): Promise<RunPage> {
    const withThread = { ...query, thread_id: threadId };
    return this.#transport.call('listRunsOfTraceThread', { query: withThread }, options);
  }

  /** Creates feedback on a trace run, or replaces the feedback that has the given id. */
  addFeedback(body: Body<'createFeedback'>, options: CallOptions = {}): Promise<Feedback> {
    return this.#transport.call('createFeedback', { body }, options);
  }

  /** Newest first. */
  feedback(query: Query<'listFeedback'> = {}, options: CallOptions = {}): Promise<Feedback[]> {
    return this.#transport.call('listFeedback', { query }, options);
  }

  getFeedback(id: string, options: CallOptions = {}): Promise<Feedback> {
    return this.#transport.call('getFeedback', { params: { feedback_id: id } }, options);
  }

  /** Replaces the fields that are given; null removes a field. */
  updateFeedback(id: string, body: Body<'changeFeedback'>, options: CallOptions = {}): Promise<Feedback> {
    return this.#transport.call('changeFeedback', { params: { feedback_id: id }, body }, options);
  }

  deleteFeedback(id: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.call('deleteFeedback', { params: { feedback_id: id } }, options);
  }

  /** The files that were sent with a trace run. With `name` only that one, and its content in base64. */
  attachments(
    id: string,
    { name }: { name?: string } = {},
    options: CallOptions = {},
  ): Promise<{ name: string; content_type: string; bytes: number; content?: string | undefined }[]> {
    const query = name === undefined ? {} : { name };
    return this.#transport.call('listTraceAttachments', { params: { id }, query }, options);
  }

  /** A file that was sent with a trace run; `content` is base64. */
  attachment(
    id: string,
    name: string,
    options: CallOptions = {},
  ): Promise<{ name: string; content_type: string; content: string }> {
    return this.#transport.call('getTraceAttachment', { params: { id, name } }, options);
  }
}
