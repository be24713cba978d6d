// Writes a stored trace run as JSON text. Payloads are inserted as the text that was sent, without parsing.
import { exactMark, fromExactJson, fromExactText } from '../../storage/postgres/exact-text.ts';
import type { TraceRunRow } from '../../storage/tracing/trace-row.ts';

/** By key: number of feedback entries, and mean score. */
export type FeedbackStats = Record<string, { n: number; avg: number | null }>;

/** `select`: the fields to include; undefined for all. */
export const toRunText = (
  row: TraceRunRow,
  feedback_stats: FeedbackStats,
  select?: ReadonlySet<string>,
): string => {
  const { inputs, outputs, events, serialized, extra, metadata, usage_details, ...plain } = row;
  const ids = row.dotted_order?.split('.').map((segment) => segment.slice(-36)) ?? [];
  const fields = {
    ...plain,
    trace_id: row.trace_id ?? row.id,
    name: exact(row.name) ?? '',
    run_type: exact(row.run_type) ?? 'chain',
    error: exact(row.error),
    tags: fromExactJson(row.tags),
    thread_id: exact(row.thread_id),
    model: exact(row.model),
    dotted_order: row.dotted_order ?? '',
    parent_run_ids: ids.slice(0, -1),
    is_root: row.parent_run_id === null,
    ...detailsOf(usage_details),
    feedback_stats,
    app_path: appPath(row),
  };
  const isSelected = ([name]: [string, unknown]): boolean => select?.has(name) ?? true;
  const head = JSON.stringify(
    select ? Object.fromEntries(Object.entries(fields).filter(isSelected)) : fields,
  );
  const payloads = Object.entries({
    inputs,
    outputs,
    events,
    serialized,
    extra: extraText(extra, metadata),
  }).filter(isSelected);
  return `${head.slice(0, -1)}${payloads.map(([name, text]) => `,"${name}":${text ?? 'null'}`).join('')}}`;
};

export const appPath = ({ session_id, id }: TraceRunRow): string =>
  `/projects/p/${session_id ?? 'none'}/r/${id}`;

const exact = (text: string | null): string | null => (text === null ? null : fromExactText(text));

const detailNames = [
  'prompt_token_details',
  'completion_token_details',
  'prompt_cost_details',
  'completion_cost_details',
] as const;

const detailsOf = (details: Record<string, unknown> | null): Record<string, unknown> =>
  Object.fromEntries(detailNames.map((name) => [name, fromExactJson(details?.[name] ?? null)]));

/** Beginning of the stored `extra` when it contains metadata that is too long for labels. */
export const withLong = '{"metadata":';

/** Restores `extra`: the stored rest with the labels that were extracted from it. */
export const extraText = (rest: string | null, labels: string): string | null => {
  if (rest === null) return labels === '{}' ? null : `{"metadata":${exactLabels(labels)}}`;
  if (rest.startsWith(withLong)) {
    const value = JSON.parse(rest) as { metadata: object };
    const metadata = { ...value.metadata, ...(JSON.parse(exactLabels(labels)) as object) };
    return JSON.stringify({ ...value, metadata });
  }
  if (labels === '{}') return rest;
  return `${rest.slice(0, -1)}${rest === '{}' ? '' : ','}"metadata":${exactLabels(labels)}}`;
};

/** Decodes the exact form of strings in JSON text. */
export const exactLabels = (labels: string): string =>
  labels.includes(exactMark) ? JSON.stringify(fromExactJson(JSON.parse(labels))) : labels;
