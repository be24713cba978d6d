// Writes a stored trace run as JSON text for version 2 of the reads: only selected fields, and only those that have a value.
import type { runFields } from '@svc/contract';
import { fromExactJson, fromExactText } from '../../storage/postgres/exact-text.ts';
import type { TraceRunRow } from '../../storage/tracing/trace-row.ts';
import { microsOf } from '../../api/time.ts';
import { previewOf } from '../threads/preview.ts';
import { appPath, type BesideRun, extraText } from './run-text.ts';
import { isRecord } from '../../json/is-record.ts';

type RunField = (typeof runFields)[number];
type Details =
  | 'prompt_token_details'
  | 'completion_token_details'
  | 'prompt_cost_details'
  | 'completion_cost_details';

interface Source {
  /** The field of a stored trace run whose payload it needs. */
  reads?: 'error' | 'inputs' | 'outputs' | 'events' | 'serialized' | 'extra';
  /** JSON text, or null when the trace run has no value. */
  text: (row: TraceRunRow, beside: BesideRun) => string | null;
}

const json = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value);
const exact = (text: string | null): string | null => (text === null ? null : fromExactText(text));
const number = (decimal: string | null): string | null => (decimal === null ? null : json(Number(decimal)));

const secondsBetween = (from: string | null, to: string | null): number | null =>
  from === null || to === null ? null : Number(microsOf(to) - microsOf(from)) / 1_000_000;

const metadataOf = (row: TraceRunRow): unknown => {
  const extra: unknown = JSON.parse(extraText(row.extra, row.metadata) ?? '{}');
  return isRecord(extra) ? extra['metadata'] : null;
};

/** Tokens or costs by category; costs are stored as decimals. */
const details = (name: Details): Source => ({
  text: ({ usage_details }) => {
    const raw: unknown = fromExactJson(usage_details?.[name] ?? null);
    if (!isRecord(raw)) return null;
    return json({ raw: Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, Number(value)])) });
  },
});

const sources: Record<RunField, Source> = {
  ID: { text: ({ id }) => json(id) },
  NAME: { text: ({ name }) => json(exact(name)) },
  RUN_TYPE: { text: ({ run_type }) => json((exact(run_type) ?? 'chain').toUpperCase()) },
  STATUS: { text: ({ status }) => json(status.toUpperCase()) },
  START_TIME: { text: ({ start_time }) => json(start_time) },
  END_TIME: { text: ({ end_time }) => JSON.stringify(end_time) },
  LATENCY_SECONDS: { text: ({ start_time, end_time }) => json(secondsBetween(start_time, end_time)) },
  FIRST_TOKEN_TIME: { text: ({ first_token_time }) => json(first_token_time) },
  ERROR: { reads: 'error', text: ({ error }) => json(exact(error)) },
  ERROR_PREVIEW: { reads: 'error', text: ({ error }) => json(exact(error)?.slice(0, 500)) },
  EXTRA: { reads: 'extra', text: ({ extra, metadata }) => extraText(extra, metadata) },
  METADATA: { reads: 'extra', text: (row) => json(metadataOf(row)) },
  EVENTS: { reads: 'events', text: ({ events }) => events },
  INPUTS: { reads: 'inputs', text: ({ inputs }) => inputs },
  INPUTS_PREVIEW: { reads: 'inputs', text: ({ inputs }) => json(previewOf(inputs)) },
  OUTPUTS: { reads: 'outputs', text: ({ outputs }) => outputs },
  OUTPUTS_PREVIEW: { reads: 'outputs', text: ({ outputs }) => json(previewOf(outputs)) },
  MANIFEST: { reads: 'serialized', text: ({ serialized }) => serialized },
  PARENT_RUN_IDS: {
    text: ({ dotted_order }) =>
      json((dotted_order?.split('.') ?? []).slice(0, -1).map((part) => part.slice(-36))),
  },
  PROJECT_ID: { text: ({ session_id }) => json(session_id) },
  TRACE_ID: { text: ({ trace_id, id }) => json(trace_id ?? id) },
  THREAD_ID: { text: ({ thread_id }) => json(exact(thread_id)) },
  DOTTED_ORDER: { text: ({ dotted_order }) => json(dotted_order) },
  IS_ROOT: { text: ({ parent_run_id }) => json(parent_run_id === null) },
  REFERENCE_EXAMPLE_ID: { text: ({ reference_example_id }) => json(reference_example_id) },
  TOTAL_TOKENS: { text: ({ total_tokens }) => json(total_tokens) },
  PROMPT_TOKENS: { text: ({ prompt_tokens }) => json(prompt_tokens) },
  COMPLETION_TOKENS: { text: ({ completion_tokens }) => json(completion_tokens) },
  TOTAL_COST: { text: ({ total_cost }) => number(total_cost) },
  PROMPT_COST: { text: ({ prompt_cost }) => number(prompt_cost) },
  COMPLETION_COST: { text: ({ completion_cost }) => number(completion_cost) },
  PROMPT_TOKEN_DETAILS: details('prompt_token_details'),
  COMPLETION_TOKEN_DETAILS: details('completion_token_details'),
  PROMPT_COST_DETAILS: details('prompt_cost_details'),
  COMPLETION_COST_DETAILS: details('completion_cost_details'),
  TAGS: { text: ({ tags }) => json(fromExactJson(tags)) },
  APP_PATH: { text: (row) => json(appPath(row)) },
  FEEDBACK_STATS: { text: (_, { feedback = {} }) => json(feedback) },
  ATTACHMENTS: {
    text: (_, { attachments = [] }) =>
      attachments.length === 0
        ? null
        : json(Object.fromEntries(attachments.map(({ name, url }) => [name, url]))),
  },
};

const isKnown = (field: string): field is RunField => Object.hasOwn(sources, field);

/** Names that clients select, as the server's own names of the payloads to read. */
export const payloadsOf = (selects: readonly string[]): ReadonlySet<string> =>
  new Set(selects.flatMap((field) => (isKnown(field) ? (sources[field].reads ?? []) : [])));

export const selectedRunText = (
  row: TraceRunRow,
  selects: readonly string[],
  beside: BesideRun = {},
): string => `{${selectedMembers(row, ['ID', ...selects], beside).join(',')}}`;

/** The selected fields as members of a JSON object, without those that have no value. */
export const selectedMembers = (
  row: TraceRunRow,
  selects: readonly string[],
  beside: BesideRun = {},
): string[] =>
  [...new Set(selects)].flatMap((field) => {
    const text = isKnown(field) ? sources[field].text(row, beside) : null;
    return text === null ? [] : [`"${field.toLowerCase()}":${text}`];
  });
