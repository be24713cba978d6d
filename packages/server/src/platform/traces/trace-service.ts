import type { RunStats } from '@svc/contract';
import { invalid, notFound } from '@svc/contract/problem';
import type { Attachment, TraceStorage } from '../../storage/traces.ts';
import type { RunListFilter } from '../../storage/trace-lists.ts';
import { payloadColumns, type RunColumn, type TraceRow } from '../../storage/trace-row.ts';
import { toRunText } from './run-text.ts';
import { type RunsAsked, toScope } from './run-scope.ts';
import { treeText } from './run-tree.ts';
import { toTime } from './time.ts';

export interface RunQuery extends RunsAsked {
  select?: string[] | undefined;
  order: 'asc' | 'desc';
  limit?: number | undefined;
  cursor?: string | undefined;
}

type After = NonNullable<RunListFilter['after']>;

const limitDefault = 100;
const treeRunsMax = 10_000;

export class TraceService {
  readonly #traces: TraceStorage;

  constructor(traces: TraceStorage) {
    this.#traces = traces;
  }

  /** JSON text. */
  async get(tenant_id: string, id: string): Promise<string> {
    const row = await this.#traces.find(tenant_id, id);
    if (row === undefined) throw notFound('Run', id);
    return toRunText(row);
  }

  async attachment(tenant_id: string, run_id: string, name: string): Promise<Omit<Attachment, 'run_id'>> {
    const found = await this.#traces.findAttachment(tenant_id, run_id, name);
    if (found === undefined) throw notFound('Attachment', name);
    return found;
  }

  /** Of those of the runs that came as spans of OpenTelemetry: what trace they are in there. */
  otelTracesOf(tenant_id: string, run_ids: string[]): Promise<ReadonlyMap<string, string>> {
    return this.#traces.otelTracesOf(tenant_id, run_ids);
  }

  async stats(tenant_id: string, asked: RunsAsked): Promise<RunStats> {
    const sums = await this.#traces.sum(toScope(tenant_id, asked));
    if (sums === undefined) throw new Error('A sum has no row');
    return { ...sums, error_rate: sums.run_count === 0 ? null : sums.error_count / sums.run_count };
  }

  /** JSON text. */
  async tree(tenant_id: string, trace_id: string): Promise<string> {
    const rows = await this.#traces.tree(tenant_id, trace_id, treeRunsMax + 1);
    if (rows.length === 0) throw notFound('Trace', trace_id);
    return treeText(trace_id, rows.slice(0, treeRunsMax), rows.length <= treeRunsMax);
  }

  /** JSON text of a page. */
  async query(tenant_id: string, query: RunQuery): Promise<string> {
    const limit = query.limit ?? limitDefault;
    const select = query.select && new Set(['id', ...query.select]);
    if (query.id)
      return toPage(await this.#traces.listByIds(tenant_id, query.id, query.id.length), undefined, select);
    const rows = await this.#traces.list({
      ...toScope(tenant_id, query),
      order: query.order,
      after: query.cursor === undefined ? null : parseCursor(query.cursor),
      limit: limit + 1,
      columns: select ? columnsOf(select) : null,
    });
    return toPage(rows.slice(0, limit), rows.length > limit ? rows[limit - 1] : undefined, select);
  }
}

/** What of a run is read for these fields of it. */
const columnsOf = (select: ReadonlySet<string>): Set<RunColumn> => {
  const columns = new Set(payloadColumns.filter((column) => select.has(column)));
  return select.has('extra') ? columns.add('metadata') : columns;
};

const toPage = (
  rows: readonly TraceRow[],
  last: TraceRow | undefined,
  select: ReadonlySet<string> | undefined,
): string => {
  const next = last?.start_time ? toCursor({ start_time: last.start_time, id: last.id }) : null;
  const runs = rows.map((row) => toRunText(row, select));
  return `{"runs":[${runs.join(',')}],"cursors":${JSON.stringify({ next, prev: null })},"search_cursors":null,"parsed_query":null}`;
};

export const toCursor = ({ start_time, id }: After): string =>
  Buffer.from(`${start_time} ${id}`).toString('base64url');

export const parseCursor = (cursor: string): After => {
  const [start = '', id = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ');
  const start_time = toTime(start);
  if (start_time === undefined || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw invalid(['body', 'cursor'], 'cursor is not one that this server has given');
  return { start_time, id };
};
