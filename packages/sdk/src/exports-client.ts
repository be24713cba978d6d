import type {
  BulkExport,
  CallInput,
  ExportEvent,
  ExportManifest,
  ExportPlan,
  ExportRun,
  exportRoutes,
} from '@svc/contract';
import { ApiError } from './api-error.ts';
import { path, pause, type CallOptions, type Transport } from './transport.ts';

type Routes = typeof exportRoutes;
export type NewExport = NonNullable<CallInput<Routes['createExport']>['body']>;

export interface ExportQuery {
  /** The first characters of the id. */
  id_prefix?: string;
  limit?: number;
  offset?: number;
  /** In any case. */
  status?: string | string[];
  session_id?: string;
  bulk_export_destination_id?: string;
  source_bulk_export_id?: string;
  created_after?: string;
  created_before?: string;
}

export interface ExportRunQuery {
  limit?: number;
  offset?: number;
  /** In any case. */
  status?: string | string[];
}

export interface WaitOptions extends CallOptions {
  /** Called with the export at every look at it. */
  onProgress?: (found: BulkExport) => void;
  /** Between two looks; two seconds when absent. */
  pollMs?: number;
  /** How long to wait in all; without end when absent. */
  timeoutMs?: number;
  /** How long the server may be away; five minutes when absent. */
  patienceMs?: number;
}

/** The export that was waited for did not complete: it failed, was cancelled, or took too long. */
export class ExportError extends Error {
  readonly export: BulkExport;

  constructor(ended: BulkExport) {
    super(`The export ${ended.id} is ${ended.status}${ended.error === null ? '' : `: ${ended.error}`}`);
    this.name = 'ExportError';
    this.export = ended;
  }
}

const where = '/api/v1/bulk-exports';

export class ExportsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Exports the runs of a project, as Parquet files, once or by a schedule.
   * @example
   * const made = await platform.exports.create({
   *   bulk_export_destination_id, session_id, start_time: '2026-11-01T00:00:00Z', end_time: '2026-12-01T00:00:00Z',
   * });
   * await platform.exports.waitFor(made.id);
   */
  create(body: NewExport, options: CallOptions = {}): Promise<BulkExport> {
    return this.#transport.json({ method: 'POST', path: where, body, ...options });
  }

  /** What `create` would do. */
  validate(body: NewExport, options: CallOptions = {}): Promise<ExportPlan> {
    return this.#transport.json({ method: 'POST', path: `${where}/validate`, body, ...options });
  }

  /** Newest first; all of them without a limit. */
  list(query: ExportQuery = {}, options: CallOptions = {}): Promise<BulkExport[]> {
    return this.#transport.json({ method: 'GET', path: where, query: { ...query }, ...options });
  }

  get(id: string, options: CallOptions = {}): Promise<BulkExport> {
    return this.#transport.json({ method: 'GET', path: path`/api/v1/bulk-exports/${id}`, ...options });
  }

  /** For good. Of a schedule: no more exports; those that it has made go on. */
  cancel(id: string, options: CallOptions = {}): Promise<BulkExport> {
    return this.#transport.json({
      method: 'PATCH',
      path: path`/api/v1/bulk-exports/${id}`,
      body: { status: 'Cancelled' },
      ...options,
    });
  }

  /** One for each UTC day, in the order of time. */
  runs(id: string, query: ExportRunQuery = {}, options: CallOptions = {}): Promise<ExportRun[]> {
    return this.#transport.json({
      method: 'GET',
      path: path`/api/v1/bulk-exports/${id}/runs`,
      query: { ...query },
      ...options,
    });
  }

  run(id: string, runId: string, options: CallOptions = {}): Promise<ExportRun> {
    return this.#transport.json({
      method: 'GET',
      path: path`/api/v1/bulk-exports/${id}/runs/${runId}`,
      ...options,
    });
  }

  /** Those of all exports that a schedule has made. */
  scheduleRuns(id: string, query: ExportRunQuery = {}, options: CallOptions = {}): Promise<ExportRun[]> {
    return this.#transport.json({
      method: 'GET',
      path: `${where}/runs`,
      query: { source_bulk_export_id: id, ...query },
      ...options,
    });
  }

  /** What happened, oldest first. */
  events(
    id: string,
    query: { after?: number; limit?: number } = {},
    options: CallOptions = {},
  ): Promise<ExportEvent[]> {
    return this.#transport.json({
      method: 'GET',
      path: path`/api/v1/bulk-exports/${id}/events`,
      query,
      ...options,
    });
  }

  /** Every file of a completed export. */
  manifest(id: string, options: CallOptions = {}): Promise<ExportManifest> {
    return this.#transport.json({
      method: 'GET',
      path: path`/api/v1/bulk-exports/${id}/manifest`,
      ...options,
    });
  }

  /**
   * Resolves with the export when it is completed; rejects with an ExportError when it has ended otherwise. A server that is away is
   * waited for, within `patienceMs`.
   */
  async waitFor(id: string, options: WaitOptions = {}): Promise<BulkExport> {
    const { onProgress, signal, pollMs = 2_000, timeoutMs, patienceMs = 300_000 } = options;
    const untilMs = performance.now() + (timeoutMs ?? Infinity);
    let heardMs = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const found = await this.get(id, { signal }).catch((error: unknown) => {
        const isOver = performance.now() - heardMs > patienceMs;
        if (isOver || signal?.aborted === true || !isPassing(error)) throw error;
        return undefined;
      });
      if (found) {
        heardMs = performance.now();
        onProgress?.(found);
        const outcome = outcomeOf(found);
        if (outcome === 'completed') return found;
        if (outcome === 'over') throw new ExportError(found);
      }
      if (performance.now() >= untilMs)
        throw new DOMException(`The export ${id} was not done within ${timeoutMs} ms`, 'TimeoutError');
      await pause(Math.min(pollMs, untilMs - performance.now()), signal);
    }
  }
}

/** Projects may spell statuses as stock clients know them. A schedule never ends by itself: nothing can be waited for. */
const outcomeOf = ({ status }: BulkExport): 'completed' | 'over' | undefined => {
  switch (status.toUpperCase()) {
    case 'COMPLETED':
      return 'completed';
    case 'CREATED':
    case 'RUNNING':
      return undefined;
    default:
      return 'over';
  }
};

/** The server is away or has too much to do, or the way to it is broken. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError ? error.retryable || error.status >= 500 : !(error instanceof SyntaxError);
