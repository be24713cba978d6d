// Exports as clients ask for them. They are executed by export-worker.ts.
import { randomUUID } from 'node:crypto';
import type {
  BulkExport,
  Compression,
  ExportCreate,
  ExportEvent,
  ExportPlan,
  ExportRun,
  ExportRunStatus,
  ExportStatus,
} from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { Refusal } from '../../storage/exports/exports.ts';
import type { PartitionRunScope } from '../../storage/exports/partition-runs.ts';
import type { Storage } from '../../storage/storage.ts';
import { toTime } from '../../tracing/ingest/time.ts';
import { readExportRequest } from './export-request.ts';
import { toWireExport, toWireRun, type WireRules } from './export-wire.ts';

export interface ExportRules extends WireRules {
  /** Of exports that do not say it. */
  compression: Compression;
}

export interface ExportsAsked {
  id_prefix?: string | undefined;
  status?: ExportStatus[] | undefined;
  session_id?: string | undefined;
  bulk_export_destination_id?: string | undefined;
  source_bulk_export_id?: string | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
}

/** Without a limit it is everything. */
export interface Page {
  limit?: number | undefined;
  offset: number;
}

export interface Listed<T> {
  rows: T[];
  total: number;
}

type ExportStores = Pick<Storage, 'exports' | 'partitionRuns' | 'exportEstimates'>;

/** Of one workspace, that are not finished. */
const activeMax = 10_000;
/** Of a list that nobody wants in pages. */
const unpagedMax = 10_000;
const countedRowsMax = 100_000;
const retryAfterSeconds = 60;

export class ExportService {
  readonly #stores: ExportStores;
  readonly #rules: ExportRules;

  constructor(stores: ExportStores, rules: ExportRules) {
    this.#stores = stores;
    this.#rules = rules;
  }

  /** Makes an export with its runs. */
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

  /** What `create` would do; of a schedule, with its first window. */
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
  async list(tenant_id: string, asked: ExportsAsked, page: Page): Promise<Listed<BulkExport>> {
    const { rows, total } = await this.#stores.exports.list(
      {
        tenant_id,
        id_prefix: asked.id_prefix ?? null,
        statuses: asked.status ?? null,
        session_id: asked.session_id ?? null,
        destination_id: asked.bulk_export_destination_id ?? null,
        source_export_id: asked.source_bulk_export_id ?? null,
        created_after: timeIn(asked.created_after, 'created_after'),
        created_before: timeIn(asked.created_before, 'created_before'),
      },
      { limit: page.limit ?? null, offset: page.offset },
      unpagedMax,
    );
    assertListable(total, page);
    return { rows: rows.map((row) => toWireExport(row, this.#rules)), total };
  }

  /** For good: the export does not go on, and what is under way of it stops. */
  async cancel(tenant_id: string, id: string): Promise<BulkExport> {
    const before = await this.#stores.exports.cancel(tenant_id, id);
    if (before === undefined) throw notFound('Bulk export', id);
    if (before === 'COMPLETED' || before === 'FAILED' || before === 'TIMEDOUT')
      throw new Problem('conflict', `The export has ended (${before}), and cannot be cancelled any more`);
    return this.get(tenant_id, id);
  }

  /** In the order of time. */
  async listRuns(
    tenant_id: string,
    of: PartitionRunScope,
    statuses: ExportRunStatus[] | undefined,
    page: Page,
  ): Promise<Listed<ExportRun>> {
    const asked = { limit: page.limit ?? null, offset: page.offset };
    const found = await this.#stores.partitionRuns.list(tenant_id, of, statuses ?? null, asked, unpagedMax);
    if (found === undefined)
      throw notFound('Bulk export', 'export_id' in of ? of.export_id : of.source_export_id);
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

  /** JSON text. */
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
        `The workspace has ${activeMax} exports that are not finished, and may not have more`,
        { retryAfterSeconds },
      );
  }
};

const assertListable = (total: number, { limit }: Page): void => {
  if (limit !== undefined || total <= unpagedMax) return;
  throw invalid(
    ['query', 'limit'],
    `There are ${total}, which is too much for one answer: ask with limit and offset`,
  );
};

const timeIn = (text: string | undefined, name: string): string | null => {
  if (text === undefined) return null;
  const time = toTime(text);
  if (time === undefined) throw invalid(['query', name], `${name} is not a time`);
  return time;
};
