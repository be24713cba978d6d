// The SQL of each field of an export.
import type { ExportField } from '@svc/contract';

/**
 * How a value arrives:
 * - `text`: as text; `payload` too, and it may be long
 * - `exact`: text in its exact form (`exact-text.ts`)
 * - `json`: JSON text whose strings are in their exact form; `tags` too, and it is a list
 * - `path`: a dotted order, of which the ids of the ancestors are extracted
 * - `extra`: JSON text, followed by a second value with the labels; `metadata` too, and only the metadata is exported
 * - all others: binary
 */
export type ColumnKind =
  | 'text'
  | 'payload'
  | 'exact'
  | 'json'
  | 'tags'
  | 'path'
  | 'extra'
  | 'metadata'
  | 'time'
  | 'int'
  | 'float'
  | 'bool';

export interface ExportColumn {
  kind: ColumnKind;
  /** Expressions over the trace run `r`; two for `extra` and `metadata`. */
  sql: string[];
  /** Evaluated for the rows of the page only. */
  isLate?: true;
}

const column = (kind: ColumnKind, ...sql: string[]): ExportColumn => ({ kind, sql });
const detail = (name: string): ExportColumn =>
  column('json', `nullif(r.usage_details -> '${name}', 'null'::jsonb)::text`);

/** `extra` only when it starts with metadata that is too long for labels. */
const longMetadata = `case when starts_with(r.extra, '{"metadata":') then r.extra end`;

/** Values outside the range of a double become infinity or 0; otherwise PostgreSQL would fail the whole page. */
const double = (decimal: string): string =>
  `(case when abs(${decimal}) > 1e300 then sign(${decimal}) * 'Infinity' when abs(${decimal}) < 1e-300 then 0 else ${decimal} end)::double precision`;
const cost = (name: string): ExportColumn => column('float', double(`r.${name}_cost`));

/** Skips the lookup in a workspace without feedback. Uses the row's tenant id, since both tables have policies. */
const feedbackStats = `case when exists (select from feedback any_f where any_f.tenant_id = {tenant}) then (
  select jsonb_object_agg(s.key, jsonb_build_object('n', s.n, 'avg', s.avg))::text from (
    select f.key, count(*) as n, ${double('avg(f.score)')} as avg from feedback f
    where f.tenant_id = {tenant} and f.run_id = r.id group by f.key) s) end`;

const sessionName = `(select p.name from projects p where p.tenant_id = {tenant} and p.id = r.session_id)`;

/** `{tenant}` is replaced by the workspace's id. */
export const exportColumns: Readonly<Record<ExportField, ExportColumn>> = {
  id: column('text', 'r.id::text'),
  tenant_id: column('text', 'r.tenant_id::text'),
  session_id: column('text', 'r.session_id::text'),
  trace_id: column('text', 'coalesce(r.trace_id, r.id)::text'),
  parent_run_id: column('text', 'r.parent_run_id::text'),
  parent_run_ids: column('path', `coalesce(r.dotted_order, '')`),
  reference_example_id: column('text', 'r.reference_example_id::text'),
  name: column('exact', `coalesce(r.name, '')`),
  run_type: column('exact', `coalesce(r.run_type, 'chain')`),
  start_time: column('time', 'r.start_time'),
  end_time: column('time', 'r.end_time'),
  status: column('text', 'r.status'),
  is_root: column('bool', 'r.parent_run_id is null'),
  dotted_order: column('text', `coalesce(r.dotted_order, '')`),
  trace_tier: column('text', 'null::text'),
  inputs: column('payload', 'r.inputs'),
  outputs: column('payload', 'r.outputs'),
  error: column('exact', 'r.error'),
  extra: column('extra', 'r.extra', 'r.metadata::text'),
  events: column('payload', 'r.events'),
  tags: column('tags', 'r.tags::text'),
  feedback_stats: { ...column('json', feedbackStats), isLate: true },
  total_tokens: column('int', 'r.total_tokens'),
  prompt_tokens: column('int', 'r.prompt_tokens'),
  completion_tokens: column('int', 'r.completion_tokens'),
  total_cost: cost('total'),
  prompt_cost: cost('prompt'),
  completion_cost: cost('completion'),
  first_token_time: column('time', 'r.first_token_time'),
  thread_id: column('exact', 'r.thread_id'),
  latency_ms: column('float', '(extract(epoch from r.end_time - r.start_time) * 1000)::double precision'),
  metadata: column('metadata', longMetadata, 'r.metadata::text'),
  session_name: { ...column('exact', sessionName), isLate: true },
  prompt_token_details: detail('prompt_token_details'),
  completion_token_details: detail('completion_token_details'),
  inserted_at: column('time', 'r.inserted_at'),
  updated_at: column('time', 'r.updated_at'),
};

const textKinds: ReadonlySet<ColumnKind> = new Set([
  'payload',
  'exact',
  'json',
  'tags',
  'path',
  'extra',
  'metadata',
] satisfies ColumnKind[]);

/** True when the lengths of the column's values vary so much that they are counted. */
export const isCounted = ({ kind, isLate }: ExportColumn): boolean => textKinds.has(kind) && !isLate;
