// The svc API as data: one definition and its schemas for each operation.
import { consoleRoutes } from './console/sessions.ts';
import { a2aRoutes } from './deployment/a2a.ts';
import { assistantRoutes } from './deployment/assistants.ts';
import { cronRoutes } from './deployment/crons.ts';
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

export {
  a2aRoutes,
  assistantRoutes,
  consoleRoutes,
  cronRoutes,
  mcpRoutes,
  runChangeRoutes,
  runRoutes,
  runFigureRoutes,
  runSearchRoutes,
  runTimelineRoutes,
  storeRoutes,
  systemRoutes,
  threadProtocolRoutes,
  threadRoutes,
  ticketRoutes,
  uiRoutes,
  webhookRoutes,
};

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
  ...webhookRoutes,
  ...storeRoutes,
  ...mcpRoutes,
  ...a2aRoutes,
  ...uiRoutes,
};

export {
  type AuthEvent,
  authEvents,
  type AuthEvents,
  type AuthResource,
  authResources,
  type AuthValue,
} from './deployment/auth-events.ts';
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

export { When } from './json.ts';
export { Assistant, Config, GraphSchemas } from './deployment/assistants.ts';
export {
  ConsoleSession,
  ConsoleSignIn,
  ListedSession,
  type OidcFault,
  oidcFaults,
} from './console/sessions.ts';
export { Cron, CronCreate, CronPatch } from './deployment/crons.ts';
export { Command } from './deployment/command.ts';
export { RunCreate, StatelessRunCreate } from './deployment/run-create.ts';
export { Run, RunStatus } from './deployment/run.ts';
export { figurePointsMax, RunFigures } from './deployment/run-figures.ts';
export { RunTimeline } from './deployment/run-timeline.ts';
export {
  type CommandEnvelope,
  type CommandErrorCode,
  type CommandMethod,
  commandAnyText,
  commandParams,
  EventSelection,
  type SubscriptionMethod,
  subscriptionParams,
  ThreadCommandResponse,
  Ticket,
  unsupportedCommands,
} from './deployment/thread-protocol.ts';
export { StreamMode, streamModes } from './deployment/stream-modes.ts';
export { Item, Label, Namespace, SearchItem } from './deployment/store.ts';
export { Checkpoint, CheckpointSelector, ThreadState, type ThreadTask } from './deployment/threads.ts';
export { Interrupt, Thread, ThreadStatus } from './deployment/thread.ts';
export { threadCountMax } from './deployment/thread-search.ts';
export { ThreadStorageReport } from './deployment/thread-storage.ts';
export { extraStateFields, stateFields } from './deployment/state-select.ts';
export { StateValue } from './deployment/state-value.ts';
export { WebhookDelivery } from './deployment/webhooks.ts';
export {
  Destination,
  DestinationCreate,
  FileConfig,
  type NewDestination,
  Probe,
  ProbeStep,
  S3Config,
  S3Credentials,
} from './platform/destinations.ts';
export { type ExportField, exportFields, usualExportFields } from './platform/export-fields.ts';
export {
  BulkExport,
  Compression,
  ExportCreate,
  ExportEvent,
  ExportPlan,
  ExportProgress,
  ExportStatus,
  FormatVersion,
  LayoutVersion,
} from './platform/bulk-export.ts';
export { ExportManifest } from './platform/export-manifest.ts';
export { ExportRun, ExportRunProgress, ExportRunStatus } from './platform/export-run.ts';
export { Feedback } from './platform/feedback.ts';
export { FeedbackToken } from './platform/feedback-tokens.ts';
export { ApiKey, KeyRole, NewApiKey } from './platform/keys.ts';
export { ModelPrice } from './platform/model-prices.ts';
export { Project, type TypedProject } from './platform/projects.ts';
export { ServerSetting, ServerWorker } from './platform/server.ts';
export { SelectedRun } from './platform/run-reads.ts';
export { absentRunFields, absentThreadStats, runFields } from './platform/select-fields.ts';
export { type RunGroup, ThreadAggregates, ThreadStats } from './platform/thread-reads.ts';
export { TraceThread } from './platform/trace-threads.ts';
export {
  IngestAnswer,
  OtlpAnswer,
  type RunStats,
  type RunStatsPoint,
  type RunStatsSeries,
  type RunTree,
  statsPointsMax,
  TraceRun,
} from './platform/traces.ts';
export { type UnsupportedPath, unsupportedPaths } from './platform/unsupported-paths.ts';
export { Workspace } from './platform/workspaces.ts';
export {
  destinationRoutes,
  exportRoutes,
  feedbackRoutes,
  feedbackTokenRoutes,
  keyRoutes,
  modelPriceRoutes,
  projectRoutes,
  runReadRoutes,
  serverSettingRoutes,
  serverWorkerRoutes,
  threadReadRoutes,
  traceThreadRoutes,
  traceRoutes,
  workspaceRoutes,
};
export * from './problem.ts';
export * from './route.ts';
export { defaultServer, openapiDocument } from './openapi.ts';
