// Creates, lists and cancels exports. worker/export-worker.ts executes them.
import { randomUUID } from 'node:crypto';
import type {
  BulkExport,
  Compression,
  ExportCreate,
  ExportEvent,
  ExportPlan,
  exportRoutes,
  ExportRun,
  ExportRunStatus,
  RouteInput,
} from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { Refusal } from '../../storage/exports/exports.ts';
import type { PartitionRunScope } from '../../storage/exports/partition-runs.ts';
import type { Storage } from '../../storage/storage.ts';
import { readExportRequest } from './export-request.ts';
import { toWireExport, toWireRun, type WireRules } from './export-wire.ts';
import { type Handlers, RawJson, type Reply } from '../../api/handlers.ts';
import { valuePage } from '../../api/pagination.ts';
import { tenantOf } from '../../auth/principal/caller.ts';

export interface ExportRules extends WireRules {
  /** Compression of exports whose request names none. */
  compression: Compression;
}

export type ExportListFilter = Partial<
  Omit<RouteInput<(typeof exportRoutes)['listExports']>['query'], 'limit' | 'offset'>
>;

/** Without a limit, the page contains all rows. */
export interface Page {
  limit?: number | undefined;
  offset: number;
}

export interface Listed<T> {
  rows: T[];
  total: number;
}

type ExportStores = Pick<Storage, 'exports' | 'partitionRuns' | 'exportEstimates'>;

/** Maximum number of unfinished exports of a workspace. */
const activeMax = 10_000;
/** Maximum number of rows of a list that is requested without a limit. */
const unpagedMax = 10_000;
/** Rows that an estimate counts exactly. */
const countedRowsMax = 100_000;
const retryAfterSeconds = 60;

export class ExportService {
  readonly #stores: ExportStores;
  readonly #rules: ExportRules;

  constructor(stores: ExportStores, rules: ExportRules) {
    this.#stores = stores;
    this.#rules = rules;
  }

  /** Creates an export with its partition runs. */
  async create(tenant_id: string, body: ExportCreate): Promise<BulkExport> {
    const { window, isSchedule, partitions } = readExportRequest(body);
    const id = randomUUID();
    const refusal = await this.#stores.exports.create(
      {
        tenant_id,
        id,
        destination_id: body.bulk_export_destination_id,
        session_id: body.session_id,
        window_start: window.start,
        window_end: isSchedule ? null : window.end,
        filter: body.filter ?? null,
        format_version: body.format_version ?? 'v1',
        layout_version: body.layout_version ?? 2,
        compression: body.compression ?? this.#rules.compression,
        export_fields: body.export_fields ?? null,
        interval_hours: body.interval_hours ?? null,
        source_export_id: null,
      },
      isSchedule ? [] : partitions,
      activeMax,
    );
    if (refusal !== undefined) throw toProblem(refusal, body);
    return this.get(tenant_id, id);
  }

  /** Returns what `create` would do, and creates nothing. For a schedule: its first window. */
  async plan(tenant_id: string, body: ExportCreate): Promise<ExportPlan> {
    const { window, partitions, condition } = readExportRequest(body);
    const { bulk_export_destination_id: destination_id, session_id } = body;
    const refusal = await this.#stores.exports.check(tenant_id, { destination_id, session_id });
    if (refusal !== undefined) throw toProblem(refusal, body);
    const { rows, is_exact } = await this.#stores.exportEstimates.estimate(
      { tenant_id, session_id, since: window.start, until: window.end, condition },
      countedRowsMax,
    );
    return {
      partitions: partitions.map(({ start, end }) => ({ start_time: start, end_time: end })),
      estimated_rows: rows,
      is_exact,
    };
  }

  async get(tenant_id: string, id: string): Promise<BulkExport> {
    const row = await this.#stores.exports.find(tenant_id, id);
    if (row === undefined) throw notFound('Bulk export', id);
    return toWireExport(row, this.#rules);
  }

  /** Newest first. */
  async list(tenant_id: string, filter: ExportListFilter, page: Page): Promise<Listed<BulkExport>> {
    const { rows, total } = await this.#stores.exports.list(
      {
        tenant_id,
        id_prefix: filter.id_prefix ?? null,
        statuses: filter.status ?? null,
        session_id: filter.session_id ?? null,
        destination_id: filter.bulk_export_destination_id ?? null,
        source_export_id: filter.source_bulk_export_id ?? null,
        created_after: filter.created_after ?? null,
        created_before: filter.created_before ?? null,
      },
      { limit: page.limit ?? null, offset: page.offset },
      unpagedMax,
    );
    assertListable(total, page);
    return { rows: rows.map((row) => toWireExport(row, this.#rules)), total };
  }

  /** Cancels the export permanently. Its running attempts are stopped. */
  async cancel(tenant_id: string, id: string): Promise<BulkExport> {
    const before = await this.#stores.exports.cancel(tenant_id, id);
    if (before === undefined) throw notFound('Bulk export', id);
    if (before === 'COMPLETED' || before === 'FAILED' || before === 'TIMEDOUT')
      throw new Problem('conflict', `The export cannot be cancelled: it has ended (${before})`);
    return this.get(tenant_id, id);
  }

  /** The partition runs of an export or a schedule, ordered by time. */
  async listRuns(
    tenant_id: string,
    scope: PartitionRunScope,
    statuses: ExportRunStatus[] | undefined,
    page: Page,
  ): Promise<Listed<ExportRun>> {
    const bounds = { limit: page.limit ?? null, offset: page.offset };
    const found = await this.#stores.partitionRuns.list(
      tenant_id,
      scope,
      statuses ?? null,
      bounds,
      unpagedMax,
    );
    if (found === undefined)
      throw notFound('Bulk export', 'export_id' in scope ? scope.export_id : scope.source_export_id);
    assertListable(found.total, page);
    return { rows: found.rows.map((row) => toWireRun(row, this.#rules)), total: found.total };
  }

  async getRun(tenant_id: string, export_id: string, id: string): Promise<ExportRun> {
    const row = await this.#stores.partitionRuns.find(tenant_id, export_id, id);
    if (row === undefined) throw notFound('Export run', id);
    return toWireRun(row, this.#rules);
  }

  async events(tenant_id: string, id: string, after: number, limit: number): Promise<ExportEvent[]> {
    const events = await this.#stores.partitionRuns.events(tenant_id, id, after, limit);
    if (events === undefined) throw notFound('Bulk export', id);
    return events;
  }

  /** Returns the manifest as JSON text. */
  async manifest(tenant_id: string, id: string): Promise<string> {
    const found = await this.#stores.exports.manifest(tenant_id, id);
    if (found === undefined) throw notFound('Bulk export', id);
    if (found.manifest === null || found.status !== 'COMPLETED')
      throw new Problem('conflict', `The export has no manifest: it is not completed (${found.status})`);
    return found.manifest;
  }
}

const toProblem = (refusal: Refusal, body: ExportCreate): Problem => {
  switch (refusal) {
    case 'no destination':
      return notFound('Destination', body.bulk_export_destination_id);
    case 'no project':
      return notFound('Project', body.session_id);
    case 'too many':
      return new Problem(
        'rate_limited',
        `The workspace has reached the limit of ${activeMax} unfinished exports; wait until some have ended, or cancel some`,
        { retryAfterSeconds },
      );
  }
};

const assertListable = (total: number, { limit }: Page): void => {
  if (limit !== undefined || total <= unpagedMax) return;
  throw invalid(
    ['query', 'limit'],
    `The list has ${total} entries, too many for one response; request it with limit and offset`,
  );
};

const toReply = <T>({ rows, total }: Listed<T>, { offset }: Page): Reply<T[]> =>
  valuePage(rows, offset, total);

export const exportHandlers = (exports: ExportService): Handlers<typeof exportRoutes> => ({
  createExport: ({ body }, call) => exports.create(tenantOf(call), body),

  listExports: async ({ query: { limit, offset, ...filter } }, call) =>
    toReply(await exports.list(tenantOf(call), filter, { limit, offset }), { limit, offset }),

  validateExport: ({ body }, call) => exports.plan(tenantOf(call), body),

  listScheduleRuns: async ({ query: { source_bulk_export_id: source_export_id, status, ...page } }, call) =>
    toReply(await exports.listRuns(tenantOf(call), { source_export_id }, status, page), page),

  getExport: ({ params }, call) => exports.get(tenantOf(call), params.export_id),

  // The contract accepts no other status than Cancelled.
  changeExport: ({ params }, call) => exports.cancel(tenantOf(call), params.export_id),

  listExportRuns: async ({ params, query: { status, ...page } }, call) =>
    toReply(await exports.listRuns(tenantOf(call), params, status, page), page),

  getExportRun: ({ params }, call) => exports.getRun(tenantOf(call), params.export_id, params.run_id),

  listExportEvents: ({ params, query }, call) =>
    exports.events(tenantOf(call), params.export_id, query.after, query.limit),

  getExportManifest: async ({ params }, call) =>
    new RawJson(await exports.manifest(tenantOf(call), params.export_id)),
});
