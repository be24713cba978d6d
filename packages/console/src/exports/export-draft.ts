// The form of a new export as text, and the request that it becomes.
import type { BulkExport, NewExport } from '@svc/sdk';
import { fieldTime, timeOfField } from '../ui/time-text.ts';

export interface ExportDraft {
  destination: string;
  project: string;
  /** In the chosen time zone, as a field for date and time writes it: `2026-11-01T00:00`. */
  from: string;
  to: string;
  isSchedule: boolean;
  everyHours: string;
  filter: string;
  formatVersion: NonNullable<NewExport['format_version']>;
  compression: NonNullable<NewExport['compression']>;
  /** Undefined for the usual columns. */
  fields: Column[] | undefined;
}

/** The paths of the request that the form has fields for. */
export const exportPaths = {
  destination: 'bulk_export_destination_id',
  project: 'session_id',
  from: 'start_time',
  to: 'end_time',
  everyHours: 'interval_hours',
  filter: 'filter',
  formatVersion: 'format_version',
  compression: 'compression',
  fields: 'export_fields',
} as const;

const dayMs = 86_400_000;

const minuteMs = 60_000;

/** The last seven days of UTC, by which files are divided, until the current minute. */
export const emptyDraft = (nowMs: number): ExportDraft => {
  const today = Math.floor(nowMs / dayMs) * dayMs;
  return {
    destination: '',
    project: '',
    from: fieldTime(new Date(today - 7 * dayMs).toISOString()),
    to: fieldTime(new Date(nowMs - (nowMs % minuteMs)).toISOString()),
    isSchedule: false,
    everyHours: '24',
    filter: '',
    formatVersion: 'v2_beta',
    compression: 'zstandard',
    fields: undefined,
  };
};

/** The request of an earlier export. */
export const draftOf = (found: BulkExport): ExportDraft => ({
  destination: found.bulk_export_destination_id,
  project: found.session_id,
  from: fieldTime(found.start_time),
  to: found.end_time === null ? '' : fieldTime(found.end_time),
  isSchedule: found.interval_hours !== null,
  everyHours: String(found.interval_hours ?? 24),
  filter: found.filter ?? '',
  formatVersion: found.format_version,
  compression: found.compression,
  fields: (found.export_fields as Column[] | null) ?? undefined,
});

/** What the form requires before it sends a request, by path. */
export const missingChoices = ({ project, destination }: ExportDraft): ReadonlyMap<string, string> =>
  new Map([
    ...(project === '' ? [['session_id', 'Choose a project.'] as const] : []),
    ...(destination === '' ? [['bulk_export_destination_id', 'Choose a destination.'] as const] : []),
  ]);

/** Empty and wrong values are sent as they are: the server validates them, and the form shows its errors. */
export const requestOf = (draft: ExportDraft): NewExport => ({
  bulk_export_destination_id: draft.destination,
  session_id: draft.project,
  start_time: timeOfField(draft.from),
  ...(draft.isSchedule
    ? { interval_hours: Number(draft.everyHours) }
    : draft.to === ''
      ? {}
      : { end_time: timeOfField(draft.to) }),
  ...(draft.filter.trim() === '' ? {} : { filter: draft.filter.trim() }),
  format_version: draft.formatVersion,
  compression: draft.compression,
  ...(draft.fields === undefined ? {} : { export_fields: draft.fields }),
});

// The columns that an export can have. The type of the contract makes this list complete. Importing its list would add zod to the bundle.
export type Column = NonNullable<NewExport['export_fields']>[number];

/** True for the columns of an export that names none. */
const isUsual: Record<Column, boolean> = {
  id: true,
  tenant_id: true,
  session_id: true,
  trace_id: true,
  parent_run_id: true,
  parent_run_ids: true,
  reference_example_id: true,
  name: true,
  run_type: true,
  start_time: true,
  end_time: true,
  status: true,
  is_root: true,
  dotted_order: true,
  trace_tier: true,
  inputs: true,
  outputs: true,
  error: true,
  extra: true,
  events: true,
  tags: true,
  feedback_stats: true,
  total_tokens: true,
  prompt_tokens: true,
  completion_tokens: true,
  total_cost: true,
  prompt_cost: true,
  completion_cost: true,
  first_token_time: true,
  thread_id: false,
  latency_ms: false,
  metadata: false,
  session_name: false,
  prompt_token_details: false,
  completion_token_details: false,
  inserted_at: false,
  updated_at: false,
};

export const columns = Object.keys(isUsual) as Column[];

export const usualColumns: readonly Column[] = columns.filter((column) => isUsual[column]);
