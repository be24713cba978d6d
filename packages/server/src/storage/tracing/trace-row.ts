import { exactTime } from '../postgres/exact-text.ts';

/** A stored trace run. Texts are in their exact form, payloads are JSON text, times are ISO 8601 with microseconds. */
export interface TraceRunRow {
  id: string;
  session_id: string | null;
  trace_id: string | null;
  parent_run_id: string | null;
  name: string | null;
  run_type: string | null;
  dotted_order: string | null;
  start_time: string | null;
  end_time: string | null;
  first_token_time: string | null;
  /** When its first write arrived. */
  inserted_at: string;
  status: 'pending' | 'success' | 'error';
  error: string | null;
  inputs: string | null;
  outputs: string | null;
  events: string | null;
  serialized: string | null;
  /** JSON text without the metadata, which is in a column of its own. */
  extra: string | null;
  metadata: string;
  tags: string[] | null;
  thread_id: string | null;
  reference_example_id: string | null;
  model: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  /** Decimals. */
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  usage_details: Record<string, unknown> | null;
}

const plain = (column: string): [string, string] => [column, `r.${column}`];

const sources = new Map<string, string>([
  ...['id', 'session_id', 'trace_id', 'parent_run_id', 'name', 'run_type', 'dotted_order'].map(plain),
  ...['start_time', 'end_time', 'first_token_time', 'inserted_at'].map((column): [string, string] => [
    column,
    exactTime(`r.${column}`),
  ]),
  ...['status', 'error', 'inputs', 'outputs', 'events', 'serialized', 'extra'].map(plain),
  ['metadata', 'r.metadata::text'],
  ...['tags', 'thread_id', 'reference_example_id', 'model'].map(plain),
  ...['prompt_tokens', 'completion_tokens', 'total_tokens'].map(plain),
  ...['prompt_cost', 'completion_cost', 'total_cost', 'usage_details'].map(plain),
]);

/** Long columns, which are read only on request. */
export const payloadColumns = [
  'error',
  'inputs',
  'outputs',
  'events',
  'serialized',
  'extra',
  'metadata',
] as const;
export type PayloadColumn = (typeof payloadColumns)[number];

/** SQL for the columns of a TraceRunRow from `r`. Payloads that are not in `wanted` are null; null selects all. */
export const traceRunColumns = (wanted: ReadonlySet<PayloadColumn> | null): string => {
  const isLeftOut = (column: string): boolean =>
    wanted !== null && payloadColumns.some((one) => one === column && !wanted.has(one));
  return [...sources]
    .map(
      ([column, source]) =>
        `${isLeftOut(column) ? (column === 'metadata' ? `'{}'` : 'null') : source} as ${column}`,
    )
    .join(', ');
};

/** SQL for the size of the selected payloads of `r`. PostgreSQL knows the length of a text without reading its value. */
export const payloadBytes = (wanted: ReadonlySet<PayloadColumn> | null): string =>
  [
    '0',
    ...payloadColumns
      .filter((column) => wanted?.has(column) ?? true)
      .map(
        (column) => `coalesce(${column === 'metadata' ? 'pg_column_size' : 'octet_length'}(r.${column}), 0)`,
      ),
  ].join(' + ');

export const traceColumns = traceRunColumns(null);
