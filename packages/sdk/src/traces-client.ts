import type { CallInput, IngestAnswer, TraceRun, traceRoutes } from '@svc/contract';
import { path, type CallOptions, type Transport } from './transport.ts';

type Body<K extends keyof typeof traceRoutes> = NonNullable<CallInput<(typeof traceRoutes)[K]>['body']>;

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

  get(id: string, options: CallOptions = {}): Promise<TraceRun> {
    return this.#transport.json({ method: 'GET', path: path`/api/v1/runs/${id}`, ...options });
  }

  /** A page of runs, newest first. */
  query(body: Body<'queryTraceRuns'> = {}, options: CallOptions = {}): Promise<RunPage> {
    return this.#transport.json({ method: 'POST', path: '/api/v1/runs/query', body, ...options });
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
