// Bulk exports: the trace runs of a project in a time span, written as Parquet files by one export run for each UTC day.
import * as z from 'zod';
import { Id, queryInteger, queryList, When } from '../json.ts';
import { paginationHeaders } from '../page.ts';
import { routesOf } from '../route.ts';
import { BulkExport, ExportCreate, ExportEvent, ExportPlan, ExportStatus } from './bulk-export.ts';
import { ExportManifest } from './export-manifest.ts';
import { ExportRun, ExportRunStatus } from './export-run.ts';

const route = routesOf('Bulk exports');

const params = z.object({ export_id: Id });
const page = {
  limit: queryInteger(1, 1_000).optional(),
  offset: queryInteger(0, 100_000).default(0),
};
/** The first characters of a UUID, because tables show only those. */
const IdPrefix = z
  .string()
  .regex(
    /^[0-9a-f]{1,8}$|^[0-9a-f]{8}(-[0-9a-f]{4}){0,3}-([0-9a-f]{0,4}|(?<=^.{24})[0-9a-f]{0,12})$/i,
    'must be the first characters of a UUID',
  )
  .transform((text) => text.toLowerCase())
  .describe('Only exports whose id begins with these characters');
/** Accepts upper and lower case, because stock clients spell statuses differently. */
const inAnyCase = <T extends z.ZodType<string, string>>(status: T) =>
  queryList(
    z
      .string()
      .transform((text) => text.toUpperCase())
      .pipe(status as unknown as z.ZodType<z.output<T>, string>),
  );
const path = '/api/v1/bulk-exports';

export const exportRoutes = {
  createExport: route('post', path, {
    audited: 'export.create',
    summary: 'Export the trace runs of a project, once or on a schedule',
    access: { permission: 'admin' },
    body: ExportCreate,
    response: BulkExport,
    errors: ['not_found', 'rate_limited'],
  }),
  listExports: route('get', path, {
    summary: 'List the exports of the workspace, newest first; all of them without a limit',
    access: { permission: 'read' },
    query: z.object({
      ...page,
      id_prefix: IdPrefix.optional(),
      status: inAnyCase(ExportStatus),
      session_id: Id.optional(),
      bulk_export_destination_id: Id.optional(),
      source_bulk_export_id: Id.optional(),
      created_after: When.optional(),
      created_before: When.optional(),
    }),
    response: z.array(BulkExport),
    headers: paginationHeaders,
  }),
  validateExport: route('post', `${path}/validate`, {
    summary: 'Check a request for an export: returns its partitions and an estimate of rows; creates nothing',
    access: { permission: 'read' },
    body: ExportCreate,
    response: ExportPlan,
    errors: ['not_found'],
  }),
  listScheduleRuns: route('get', `${path}/runs`, {
    summary: 'List the export runs of all exports of a schedule, ordered by time',
    access: { permission: 'read' },
    query: z.object({ ...page, source_bulk_export_id: Id, status: inAnyCase(ExportRunStatus) }),
    response: z.array(ExportRun),
    headers: paginationHeaders,
    errors: ['not_found'],
  }),
  getExport: route('get', `${path}/:export_id`, {
    summary: 'Get an export and its progress',
    access: { permission: 'read' },
    params,
    response: BulkExport,
    errors: ['not_found'],
  }),
  changeExport: route('patch', `${path}/:export_id`, {
    audited: 'export.change',
    summary: 'Cancel an export permanently',
    access: { permission: 'admin' },
    params,
    body: z.strictObject({
      status: z
        .string()
        .refine((status) => status.toLowerCase() === 'cancelled', 'can only be changed to Cancelled'),
    }),
    response: BulkExport,
    errors: ['not_found', 'conflict'],
  }),
  listExportRuns: route('get', `${path}/:export_id/runs`, {
    summary: 'List the export runs of an export, ordered by time; all of them without a limit',
    access: { permission: 'read' },
    params,
    query: z.object({ ...page, status: inAnyCase(ExportRunStatus) }),
    response: z.array(ExportRun),
    headers: paginationHeaders,
    errors: ['not_found'],
  }),
  getExportRun: route('get', `${path}/:export_id/runs/:run_id`, {
    summary: 'Get an export run',
    access: { permission: 'read' },
    params: params.extend({ run_id: Id }),
    response: ExportRun,
    errors: ['not_found'],
  }),
  listExportEvents: route('get', `${path}/:export_id/events`, {
    summary: 'List the events of an export, oldest first',
    access: { permission: 'read' },
    params,
    query: z.object({ after: queryInteger(0, 1e15).default(0), limit: queryInteger(1, 1_000).default(100) }),
    response: z.array(ExportEvent),
    errors: ['not_found'],
  }),
  getExportManifest: route('get', `${path}/:export_id/manifest`, {
    summary: 'Get the manifest of a completed export, with the text of the file in the destination',
    access: { permission: 'read' },
    params,
    response: ExportManifest,
    errors: ['not_found', 'conflict'],
  }),
};
