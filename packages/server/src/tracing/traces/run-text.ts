// A stored run as JSON text: payloads are put in as they were sent, without being read again.
import { exactMark, fromExactJson, fromExactText } from '../../storage/postgres/exact-text.ts';
import type { TraceRunRow } from '../../storage/tracing/trace-row.ts';

/** By key: how often, and the mean score. */
export type FeedbackStats = Record<string, { n: number; avg: number | null }>;

/** `select`: the fields that are wanted; all, when it is undefined. */
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
    app_path: `/projects/p/${row.session_id ?? 'none'}/r/${row.id}`,
  };
  const isWanted = ([name]: [string, unknown]): boolean => select?.has(name) ?? true;
  const head = JSON.stringify(select ? Object.fromEntries(Object.entries(fields).filter(isWanted)) : fields);
  const payloads = Object.entries({
    inputs,
    outputs,
    events,
    serialized,
    extra: extraText(extra, metadata),
  }).filter(isWanted);
  return `${head.slice(0, -1)}${payloads.map(([name, text]) => `,"${name}":${text ?? 'null'}`).join('')}}`;
};

const exact = (text: string | null): string | null => (text === null ? null : fromExactText(text));

const detailNames = [
  'prompt_token_details',
  'completion_token_details',
  'prompt_cost_details',
  'completion_cost_details',
] as const;

const detailsOf = (details: Record<string, unknown> | null): Record<string, unknown> =>
  Object.fromEntries(detailNames.map((name) => [name, fromExactJson(details?.[name] ?? null)]));

/** How the rest begins when it holds what of the metadata is too long for a label. */
export const withLong = '{"metadata":';

/** The payload with the labels that were taken out of it. */
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

/** JSON text whose texts are in their exact form. */
export const exactLabels = (labels: string): string =>
  labels.includes(exactMark) ? JSON.stringify(fromExactJson(JSON.parse(labels))) : labels;
