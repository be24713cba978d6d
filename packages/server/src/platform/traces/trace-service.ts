import { invalid, notFound } from '@svc/contract/problem';
import type { Attachment, TraceStorage } from '../../storage/traces.ts';
import type { RunListFilter } from '../../storage/trace-lists.ts';
import { toRunText } from './run-text.ts';
import { toTime } from './time.ts';

export interface RunQuery {
  id?: string[] | undefined;
  trace?: string | undefined;
  session?: string[] | undefined;
  is_root?: boolean | undefined;
  start_time?: string | undefined;
  end_time?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

type After = NonNullable<RunListFilter['after']>;

const limitDefault = 100;

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

  /** JSON text of a page. */
  async query(tenant_id: string, query: RunQuery): Promise<string> {
    const limit = query.limit ?? limitDefault;
    if (query.id)
      return toPage(await this.#traces.listByIds(tenant_id, query.id, query.id.length), undefined);
    const rows = await this.#traces.list({
      tenant_id,
      session_ids: query.session ?? null,
      trace_id: query.trace ?? null,
      is_root: query.is_root ?? null,
      since: timeOf(query.start_time, 'start_time'),
      until: timeOf(query.end_time, 'end_time'),
      after: query.cursor === undefined ? null : parseCursor(query.cursor),
      limit: limit + 1,
    });
    return toPage(rows.slice(0, limit), rows.length > limit ? rows[limit - 1] : undefined);
  }
}

const toPage = (
  rows: Parameters<typeof toRunText>[0][],
  last: { start_time: string | null; id: string } | undefined,
): string => {
  const next = last?.start_time ? Buffer.from(`${last.start_time} ${last.id}`).toString('base64url') : null;
  return `{"runs":[${rows.map(toRunText).join(',')}],"cursors":${JSON.stringify({ next, prev: null })}}`;
};

const timeOf = (text: string | undefined, name: string): string | null => {
  if (text === undefined) return null;
  const time = toTime(text);
  if (time === undefined) throw invalid(['body', name], `${name} is not a time`);
  return time;
};

const parseCursor = (cursor: string): After => {
  const [start = '', id = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ');
  const start_time = toTime(start);
  if (start_time === undefined || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw invalid(['body', 'cursor'], 'cursor is not one that this server has given');
  return { start_time, id };
};
