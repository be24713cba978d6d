// Writes stored trace runs as JSON text. Payloads are inserted as the text that was sent, without parsing.
import { exactMark, fromExactJson, fromExactText } from '../../storage/postgres/exact-text.ts';
import type { AttachmentLink } from './attachment-service.ts';
import type { TraceRunRow } from '../../storage/tracing/trace-row.ts';

/** By key: number of feedback entries, and mean score. */
export type FeedbackStats = Record<string, { n: number; avg: number | null }>;

/** What is stored beside the trace run. */
export interface BesideRun {
  feedback?: FeedbackStats | undefined;
  /** Undefined when they were not read. */
  attachments?: readonly AttachmentLink[] | undefined;
}

/** Fields that every row has, because the stock API and the models of its clients require them. */
const required: ReadonlySet<string> = new Set([
  'id',
  'name',
  'run_type',
  'start_time',
  'trace_id',
  'dotted_order',
  'status',
  'session_id',
  'app_path',
]);

/** Fields that are returned together with another one: stock clients cannot select them. */
const withField: ReadonlyMap<string, string> = new Map([
  ['prompt_token_details', 'prompt_tokens'],
  ['completion_token_details', 'completion_tokens'],
  ['prompt_cost_details', 'prompt_cost'],
  ['completion_cost_details', 'completion_cost'],
]);

/** `select`: the fields to include besides the required ones; undefined for all. */
export const toRunText = (
  row: TraceRunRow,
  { feedback = {}, attachments }: BesideRun,
  select?: ReadonlySet<string>,
): string => {
  const { inputs, outputs, events, serialized, extra, metadata, usage_details, inserted_at, ...plain } = row;
  const ids = row.dotted_order?.split('.').map((segment) => segment.slice(-36)) ?? [];
  const fields = {
    ...plain,
    trace_id: row.trace_id ?? row.id,
    name: exact(row.name) ?? '',
    run_type: exact(row.run_type) ?? 'chain',
    // Clients require a start. While only a PATCH has arrived, the end or the arrival is the latest possible one.
    start_time: row.start_time ?? row.end_time ?? inserted_at,
    error: exact(row.error),
    tags: fromExactJson(row.tags),
    thread_id: exact(row.thread_id),
    model: exact(row.model),
    dotted_order: row.dotted_order ?? '',
    parent_run_ids: ids.slice(0, -1),
    is_root: row.parent_run_id === null,
    ...detailsOf(usage_details),
    feedback_stats: feedback,
    s3_urls: attachments && attachmentUrls(attachments),
    app_path: appPath(row),
  };
  const isSelected = ([name]: [string, unknown]): boolean =>
    select === undefined || required.has(name) || select.has(name) || select.has(withField.get(name) ?? '');
  const head = JSON.stringify(
    select ? Object.fromEntries(Object.entries(fields).filter(isSelected)) : fields,
  );
  const payloads = Object.entries({
    inputs: asObject(inputs, 'input'),
    outputs: asObject(outputs, 'output'),
    events: events === null || startsWith('[', events) ? events : `[{"name":"event","value":${events}}]`,
    serialized: asObject(serialized, 'value'),
    extra: extraText(extra, metadata),
  }).filter(isSelected);
  return `${head.slice(0, -1)}${payloads.map(([name, text]) => `,"${name}":${text ?? 'null'}`).join('')}}`;
};

/** The links in the form of the stock API, whose clients read the contents from there. */
const attachmentUrls = (links: readonly AttachmentLink[]): Record<string, unknown> | null =>
  links.length === 0
    ? null
    : Object.fromEntries(
        links.map(({ name, content_type, url }) => [
          `attachment.${name}`,
          { presigned_url: url, mime_type: content_type },
        ]),
      );

const startsWith = (bracket: string, text: string): boolean => text.trimStart().startsWith(bracket);

/** The models of stock clients require objects, and they wrap other values in the same way. */
const asObject = (text: string | null, key: string): string | null =>
  text === null || startsWith('{', text) ? text : `{"${key}":${text}}`;

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

/** Fields that a tree leaves out. */
const hidden = new Set([
  'inputs',
  'outputs',
  'events',
  'serialized',
  'extra',
  'parent_run_ids',
  'feedback_stats',
]);

/**
 * Writes a trace as JSON text, a tree of trace runs. `rows` are ordered by start. Runs whose parents are not among them are at the top level, like
 * the root.
 */
export const treeText = (trace_id: string, rows: readonly TraceRunRow[], isWhole: boolean): string => {
  const known = new Set(rows.map((row) => row.id));
  const children = new Map<string, TraceRunRow[]>();
  const tops: TraceRunRow[] = [];
  for (const row of rows) {
    const parent = row.parent_run_id;
    if (parent === null || !known.has(parent)) tops.push(row);
    else {
      const siblings = children.get(parent);
      if (siblings) siblings.push(row);
      else children.set(parent, [row]);
    }
  }
  const texts = textsOf(tops, children);
  return `{"trace_id":${JSON.stringify(trace_id)},"run_count":${rows.length},"is_whole":${isWhole},"runs":${texts}}`;
};

/** Not recursive, because a deep trace would overflow the stack. */
const textsOf = (
  tops: readonly TraceRunRow[],
  children: ReadonlyMap<string, readonly TraceRunRow[]>,
): string => {
  const pieces: string[] = ['['];
  const open: { rows: readonly TraceRunRow[]; at: number }[] = [{ rows: tops, at: 0 }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const row = level.rows[level.at++];
    if (row === undefined) {
      open.pop();
      pieces.push(open.length > 0 ? ']}' : ']');
      continue;
    }
    pieces.push(level.at > 1 ? ',' : '', nodeText(row), ',"child_runs":[');
    open.push({ rows: children.get(row.id) ?? [], at: 0 });
  }
  return pieces.join('');
};

/** JSON text of a run without the closing brace. */
const nodeText = (row: TraceRunRow): string => {
  const fields = JSON.parse(toRunText(row, {})) as Record<string, unknown>;
  for (const name of hidden) delete fields[name];
  return JSON.stringify(fields).slice(0, -1);
};
