import type { exportRoutes } from '@svc/contract';
import { type Handlers, RawJson, type Reply } from '../../api/handlers.ts';
import { valuePage } from '../../api/pagination.ts';
import { grantOf } from '../../auth/principal/caller.ts';
import type { ExportService, Listed, Page } from './export-service.ts';

const toReply = <T>({ rows, total }: Listed<T>, { offset }: Page): Reply<T[]> =>
  valuePage(rows, offset, total);

export const exportHandlers = (exports: ExportService): Handlers<typeof exportRoutes> => ({
  createExport: ({ body }, call) => exports.create(grantOf(call.caller).tenant_id, body),

  listExports: async ({ query: { limit, offset, ...filter } }, call) =>
    toReply(await exports.list(grantOf(call.caller).tenant_id, filter, { limit, offset }), { limit, offset }),

  validateExport: ({ body }, call) => exports.plan(grantOf(call.caller).tenant_id, body),

  listScheduleRuns: async ({ query: { source_bulk_export_id: source_export_id, status, ...page } }, call) =>
    toReply(await exports.listRuns(grantOf(call.caller).tenant_id, { source_export_id }, status, page), page),

  getExport: ({ params }, call) => exports.get(grantOf(call.caller).tenant_id, params.export_id),

  // The contract accepts no other status than Cancelled.
  changeExport: ({ params }, call) => exports.cancel(grantOf(call.caller).tenant_id, params.export_id),

  listExportRuns: async ({ params, query: { status, ...page } }, call) =>
    toReply(await exports.listRuns(grantOf(call.caller).tenant_id, params, status, page), page),

  getExportRun: ({ params }, call) =>
    exports.getRun(grantOf(call.caller).tenant_id, params.export_id, params.run_id),

  listExportEvents: ({ params, query }, call) =>
    exports.events(grantOf(call.caller).tenant_id, params.export_id, query.after, query.limit),

  getExportManifest: async ({ params }, call) =>
    new RawJson(await exports.manifest(grantOf(call.caller).tenant_id, params.export_id)),
});
