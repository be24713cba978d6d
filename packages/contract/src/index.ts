// The svc API as data: one definition and its schemas for each operation.
import { a2aRoutes } from './deployment/a2a.ts';
import { assistantRoutes } from './deployment/assistants.ts';
import { cronRoutes } from './deployment/crons.ts';
import { jobRoutes } from './deployment/jobs.ts';
import { mcpRoutes } from './deployment/mcp.ts';
import { runChangeRoutes, runRoutes } from './deployment/runs.ts';
import { runFigureRoutes } from './deployment/run-figures.ts';
import { runSearchRoutes } from './deployment/run-search.ts';
import { runTimelineRoutes } from './deployment/run-timeline.ts';
import { storeRoutes } from './deployment/store.ts';
import { systemRoutes } from './deployment/system.ts';
import { threadProtocolRoutes, ticketRoutes } from './deployment/thread-protocol.ts';
import { threadRoutes } from './deployment/threads.ts';
import { uiRoutes } from './deployment/ui.ts';
import { webhookRoutes } from './deployment/webhooks.ts';
import { destinationRoutes } from './platform/destinations.ts';
import { exportRoutes } from './platform/exports.ts';
import { feedbackRoutes } from './platform/feedback.ts';
import { feedbackTokenRoutes } from './platform/feedback-tokens.ts';
import { keyRoutes } from './platform/keys.ts';
import { modelPriceRoutes } from './platform/model-prices.ts';
import { projectRoutes } from './platform/projects.ts';
import { runReadRoutes } from './platform/run-reads.ts';
import { threadReadRoutes } from './platform/thread-reads.ts';
import { traceThreadRoutes } from './platform/trace-threads.ts';
import { traceRoutes } from './platform/traces.ts';
import { serverSettingRoutes, serverWorkerRoutes } from './platform/server.ts';
import { workspaceRoutes } from './platform/workspaces.ts';

export const deploymentRoutes = {
  ...systemRoutes,
  ...assistantRoutes,
  ...threadRoutes,
  ...threadProtocolRoutes,
  ...ticketRoutes,
  ...runRoutes,
  ...runFigureRoutes,
  ...runSearchRoutes,
  ...runTimelineRoutes,
  ...runChangeRoutes,
  ...cronRoutes,
  ...jobRoutes,
  ...webhookRoutes,
  ...storeRoutes,
  ...mcpRoutes,
  ...a2aRoutes,
  ...uiRoutes,
};

export const platformRoutes = {
  ...workspaceRoutes,
  ...keyRoutes,
  ...projectRoutes,
  ...traceRoutes,
  ...runReadRoutes,
  ...traceThreadRoutes,
  ...threadReadRoutes,
  ...feedbackRoutes,
  ...feedbackTokenRoutes,
  ...modelPriceRoutes,
  ...destinationRoutes,
  ...exportRoutes,
  ...serverSettingRoutes,
  ...serverWorkerRoutes,
};

export * from './console/sessions.ts';
export * from './deployment/a2a.ts';
export * from './deployment/assistants.ts';
export * from './deployment/auth-events.ts';
export * from './deployment/command.ts';
export * from './deployment/crons.ts';
export * from './deployment/jobs.ts';
export * from './deployment/mcp.ts';
export { RunCreate, StatelessRunCreate } from './deployment/run-create.ts';
export * from './deployment/run-figures.ts';
export { runSearchRoutes } from './deployment/run-search.ts';
export * from './deployment/run-timeline.ts';
export * from './deployment/run.ts';
export * from './deployment/runs.ts';
export { extraStateFields, stateFields } from './deployment/state-select.ts';
export { StateValue } from './deployment/state-value.ts';
export { Item, Label, Namespace, SearchItem, storeRoutes } from './deployment/store.ts';
export { StreamMode, streamModes } from './deployment/stream-modes.ts';
export * from './deployment/system.ts';
export * from './deployment/thread-protocol.ts';
export { threadCountMax } from './deployment/thread-search.ts';
export * from './deployment/thread.ts';
export * from './deployment/threads.ts';
export * from './deployment/ui.ts';
export * from './deployment/webhooks.ts';
export { When } from './json.ts';
export { defaultServer, openapiDocument } from './openapi.ts';
export * from './platform/bulk-export.ts';
export * from './platform/destinations.ts';
export { type ExportField, exportFields, usualExportFields } from './platform/export-fields.ts';
export * from './platform/export-manifest.ts';
export * from './platform/export-run.ts';
export * from './platform/exports.ts';
export * from './platform/feedback-tokens.ts';
export * from './platform/feedback.ts';
export * from './platform/keys.ts';
export * from './platform/model-prices.ts';
export * from './platform/projects.ts';
export { runReadRoutes, SelectedRun } from './platform/run-reads.ts';
export { absentRunFields, absentThreadStats, runFields } from './platform/select-fields.ts';
export * from './platform/server.ts';
export * from './platform/thread-reads.ts';
export * from './platform/trace-threads.ts';
export {
  IngestAnswer,
  OtlpAnswer,
  type RunStats,
  type RunStatsPoint,
  type RunStatsSeries,
  type RunTree,
  statsPointsMax,
  TraceRun,
  traceRoutes,
} from './platform/traces.ts';
export * from './platform/unsupported-paths.ts';
export * from './platform/workspaces.ts';
export * from './problem.ts';
export * from './route.ts';
