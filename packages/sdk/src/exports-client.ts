import type { BulkExport, ExportEvent, ExportManifest, ExportPlan, ExportRun } from '@svc/contract';
import { ApiError } from './api-error.ts';
import { pause, type Body, type CallOptions, type Transport } from './transport.ts';

export type NewExport = Body<'createExport'>;

export interface ExportQuery {
  /** The first characters of the id. */
  id_prefix?: string;
  limit?: number;
  offset?: number;
  /** In upper or lower case. */
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
  /** In upper or lower case. */
  status?: string | string[];
}

export interface WaitOptions extends CallOptions {
  /** Called with the export after every poll. */
  onProgress?: (found: BulkExport) => void;
  /** Between two polls; 2,000 by default. */
  pollMs?: number;
  /** How long to wait in all; without limit by default. */
  timeoutMs?: number;
  /** How long the server may be unavailable; five minutes by default. */
  patienceMs?: number;
}

/** `waitFor` rejects with this when the export failed, was cancelled, or timed out. */
export class ExportError extends Error {
  readonly export: BulkExport;

  constructor(ended: BulkExport) {
    super(`The export ${ended.id} is ${ended.status}${ended.error === null ? '' : `: ${ended.error}`}`);
    this.name = 'ExportError';
    this.export = ended;
  }
}

export class ExportsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Exports the trace runs of a project to Parquet files, once or by a schedule.
   * @example
   * const made = await platform.exports.create({
   *   bulk_export_destination_id, session_id, start_time: '2026-11-01T00:00:00Z', end_time: '2026-12-01T00:00:00Z',
   * });
   * await platform.exports.waitFor(made.id);
   */
  create(body: NewExport, options: CallOptions = {}): Promise<BulkExport> {
    return this.#transport.call('createExport', { body }, options);
  }

  /** Returns what `create` would do, and creates nothing. */
  validate(body: NewExport, options: CallOptions = {}): Promise<ExportPlan> {
    return this.#transport.call('validateExport', { body }, options);
  }

  /** Newest first; all exports unless `limit` is given. */
  list(query: ExportQuery = {}, options: CallOptions = {}): Promise<BulkExport[]> {
    return this.#transport.call('listExports', { query }, options);
  }

  get(id: string, options: CallOptions = {}): Promise<BulkExport> {
    return this.#transport.call('getExport', { params: { export_id: id } }, options);
  }

  /** Final. Cancelling a schedule stops further exports; exports that it has created continue. */
  cancel(id: string, options: CallOptions = {}): Promise<BulkExport> {
    const body = { status: 'Cancelled' };
    return this.#transport.call('changeExport', { params: { export_id: id }, body }, options);
  }

  /** The export's partition runs, one for each UTC day, in the order of time. */
  runs(id: string, query: ExportRunQuery = {}, options: CallOptions = {}): Promise<ExportRun[]> {
    return this.#transport.call('listExportRuns', { params: { export_id: id }, query }, options);
  }

  run(id: string, runId: string, options: CallOptions = {}): Promise<ExportRun> {
    return this.#transport.call('getExportRun', { params: { export_id: id, run_id: runId } }, options);
  }

  /** The partition runs of all exports that a schedule has created. */
  scheduleRuns(id: string, query: ExportRunQuery = {}, options: CallOptions = {}): Promise<ExportRun[]> {
    const ofSchedule = { ...query, source_bulk_export_id: id };
    return this.#transport.call('listScheduleRuns', { query: ofSchedule }, options);
  }

  /** The export's history, oldest event first. */
  events(
    id: string,
    query: { after?: number; limit?: number } = {},
    options: CallOptions = {},
  ): Promise<ExportEvent[]> {
    return this.#transport.call('listExportEvents', { params: { export_id: id }, query }, options);
  }

  /** The list of all files of a completed export. */
  manifest(id: string, options: CallOptions = {}): Promise<ExportManifest> {
    return this.#transport.call('getExportManifest', { params: { export_id: id } }, options);
  }

  /**
   * Resolves with the export when it is completed; rejects with an ExportError when it has ended otherwise. Continues polling while the
   * server is unavailable, for up to `patienceMs`.
   */
  async waitFor(id: string, options: WaitOptions = {}): Promise<BulkExport> {
    const { onProgress, signal, pollMs = 2_000, timeoutMs, patienceMs = 300_000 } = options;
    const untilMs = performance.now() + (timeoutMs ?? Infinity);
    let respondedMs = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const found = await this.get(id, { signal }).catch((error: unknown) => {
        const isOver = performance.now() - respondedMs > patienceMs;
        if (isOver || signal?.aborted === true || !isPassing(error)) throw error;
        return undefined;
      });
      if (found) {
        respondedMs = performance.now();
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

/**
 * The case of a status depends on the project's configuration. A schedule never completes, so waiting for one ends at once with an
 * ExportError.
 */
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

/** True when the server is unavailable or overloaded, or the connection failed. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError ? error.retryable || error.status >= 500 : !(error instanceof SyntaxError);
