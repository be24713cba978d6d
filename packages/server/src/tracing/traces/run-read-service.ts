// Version 2 of the reads of traces: pages of trace runs with selected fields, as JSON text.
import { invalid, notFound } from '@svc/contract/problem';
import type { TraceRunRow } from '../../storage/tracing/trace-row.ts';
import type { TraceTotals } from '../../storage/tracing/trace-sums.ts';
import type { AttachmentService, Reader } from './attachment-service.ts';
import { toCursor, type TraceRunPage } from './run-page.ts';
import type { RunSelection } from './run-scope.ts';
import { payloadsOf, selectedRunText } from './selected-run.ts';
import { timeOfMicros } from '../../api/time.ts';
import { type FoundRuns, type TraceService, withTotals } from './trace-service.ts';

export interface SelectedPage {
  selects?: string[] | undefined;
  cursor?: string | undefined;
  page_size?: number | undefined;
}

const pageDefault = 20;
/** Trace runs of a trace in one response, because stock clients do not request a second one. */
const traceRunsMax = 10_000;
const dayMs = 86_400_000;

/** The start of the window that stock clients expect when they name none. */
export const dayAgo = (): string => timeOfMicros(BigInt(Date.now() - dayMs) * 1_000n);

const aggregateFields = ['TOTAL_TOKENS', 'TOTAL_COST', 'FIRST_TOKEN_TIME'];

export class RunReadService {
  readonly #traces: TraceService;
  readonly #attachments: AttachmentService;

  constructor(traces: TraceService, attachments: AttachmentService) {
    this.#traces = traces;
    this.#attachments = attachments;
  }

  async query(
    reader: Reader,
    selection: RunSelection,
    page: SelectedPage & { withTotals: boolean },
  ): Promise<TraceRunPage> {
    const { tenant_id } = reader;
    const found = await this.#search(tenant_id, selection, page, 'desc');
    const rows = page.withTotals
      ? withTotals(found.rows, await this.#traces.totalsOf(tenant_id, found.rows))
      : found.rows;
    return toItems(found, await this.#texts(reader, rows, page.selects ?? []));
  }

  /** Throws not_found when the trace run belongs to another project. */
  async get(reader: Reader, id: string, project_id: string, selects: string[] = []): Promise<string> {
    const row = await this.#traces.find(reader.tenant_id, id);
    if (row === undefined || row.session_id !== project_id) throw notFound('Run', id);
    return (await this.#texts(reader, [row], selects))[0] ?? '';
  }

  async traces(reader: Reader, selection: RunSelection, page: SelectedPage): Promise<TraceRunPage> {
    const { tenant_id } = reader;
    const selects = page.selects ?? [];
    const aggregates = selects.filter((field) => aggregateFields.includes(field));
    const found = await this.#search(tenant_id, { ...selection, is_root: true }, page, 'desc');
    const totals = aggregates.length === 0 ? new Map() : await this.#traces.totalsOf(tenant_id, found.rows);
    const own = selects.filter((field) => !aggregateFields.includes(field));
    const roots = await this.#texts(reader, found.rows, own);
    const items = found.rows.map((row, at) => {
      const sums = aggregateText(aggregates, totals.get(row.trace_id ?? row.id));
      return `{"root_run":${roots[at] ?? 'null'}${sums}}`;
    });
    return toItems(found, items);
  }

  /** The trace runs of a trace, oldest first. */
  async ofTrace(reader: Reader, selection: RunSelection, page: SelectedPage): Promise<TraceRunPage> {
    const found = await this.#search(
      reader.tenant_id,
      selection,
      { ...page, page_size: traceRunsMax },
      'asc',
    );
    return toItems(found, await this.#texts(reader, found.rows, page.selects ?? []));
  }

  async #search(
    tenant_id: string,
    selection: RunSelection,
    { selects = [], cursor, page_size = pageDefault }: SelectedPage,
    order: 'asc' | 'desc',
  ): Promise<FoundRuns> {
    if (selection.session === undefined && selection.id === undefined && selection.trace === undefined)
      throw invalid(['body', 'project_ids'], 'project_ids is required, unless ids or trace_id is given');
    return this.#traces.search(
      tenant_id,
      { ...selection, order, limit: page_size, cursor },
      payloadsOf(selects),
    );
  }

  async #texts(reader: Reader, rows: readonly TraceRunRow[], selects: readonly string[]): Promise<string[]> {
    const none = new Map<string, never>();
    const ids = rows.map(({ id }) => id);
    const [feedback, attachments] = await Promise.all([
      selects.includes('FEEDBACK_STATS') ? this.#traces.feedbackOf(reader.tenant_id, rows) : none,
      selects.includes('ATTACHMENTS') ? this.#attachments.linksOf(reader, ids) : none,
    ]);
    return rows.map((row) =>
      selectedRunText(row, selects, {
        feedback: feedback.get(row.id),
        attachments: attachments.get(row.id),
      }),
    );
  }
}

const aggregateText = (fields: readonly string[], totals: TraceTotals | undefined): string => {
  if (fields.length === 0) return '';
  const values = {
    ...(fields.includes('TOTAL_TOKENS') ? { total_tokens: totals?.total_tokens ?? undefined } : {}),
    ...(fields.includes('TOTAL_COST') && typeof totals?.total_cost === 'string'
      ? { total_cost: Number(totals.total_cost) }
      : {}),
    ...(fields.includes('FIRST_TOKEN_TIME')
      ? { first_token_time: totals?.first_token_time ?? undefined }
      : {}),
  };
  return `,"trace_aggregates":${JSON.stringify(values)}`;
};

/** A page of JSON texts with its cursor. */
export const toItems = ({ next, partial, isCut }: FoundRuns, items: readonly string[]): TraceRunPage => {
  const rest = JSON.stringify({
    has_more: next !== null,
    next_cursor: next && toCursor(next),
    ...partial('next_cursor'),
  });
  return { text: `{"items":[${items.join(',')}],${rest.slice(1)}`, isCut };
};
