// All SQL of the server, one object of functions per noun.
import { defaultAnswerLimits } from './postgres/answer-limits.ts';
import { agentTaskStorage, type AgentTaskStorage } from './deployment/runs/agent-tasks.ts';
import { apiKeyStorage, type ApiKeyStorage } from './auth/api-keys.ts';
import { consoleSessionStorage, type ConsoleSessionStorage } from './auth/console-sessions.ts';
import { ticketStorage, type TicketStorage } from './auth/tickets.ts';
import { assistantStorage, type AssistantStorage } from './deployment/assistants/assistants.ts';
import { checkpointStorage, type CheckpointStorage } from './deployment/checkpoints/checkpoints.ts';
import { cronStorage, type CronStorage } from './deployment/crons.ts';
import type { Database, Transactions } from './postgres/database.ts';
import { exportEstimates } from './exports/export-estimates.ts';
import { exportLeaseStorage, type ExportLeaseStorage } from './exports/export-leases.ts';
import { partitionRunStorage, type PartitionRunStorage } from './exports/partition-runs.ts';
import { exportStorage, type ExportStorage } from './exports/exports.ts';
import { feedbackTokenStorage, type FeedbackTokenStorage } from './tracing/feedback-tokens.ts';
import { feedbackStorage, type FeedbackStorage } from './tracing/feedback.ts';
import { runLeaseStorage, type RunLeaseStorage } from './deployment/runs/run-leases.ts';
import { runQueueStorage, type RunQueueStorage } from './deployment/runs/run-queue.ts';
import { runLogStorage, type RunLogStorage } from './deployment/runs/run-log.ts';
import { periodicTaskStorage, type PeriodicTaskStorage } from './periodic-tasks.ts';
import { encryptionKeyStorage, type EncryptionKeyStorage } from './auth/encryption-keys.ts';
import { destinationStorage, type DestinationStorage } from './exports/export-destinations.ts';
import { databaseHealth, type DatabaseHealth } from './postgres/health.ts';
import { expiryStorage, type ExpiryStorage } from './deployment/threads/expiry.ts';
import { modelPriceStorage, type ModelPriceStorage } from './tracing/model-prices.ts';
import { pruningStorage, type PruningStorage } from './deployment/threads/pruning.ts';
import { runStorage, type RunStorage } from './deployment/runs/runs.ts';
import { subgraphStorage, type SubgraphStorage } from './deployment/checkpoints/subgraphs.ts';
import { storeItemStorage, type StoreItemStorage } from './deployment/store/store-items.ts';
import { threadStorage, type ThreadStorage } from './deployment/threads/threads.ts';
import { projectStorage, type ProjectStorage } from './tracing/projects.ts';
import { type TraceHourStorage, traceHourStorage } from './tracing/trace-hours.ts';
import { tracePartitionStorage, type TracePartitionStorage } from './tracing/trace-partitions.ts';
import { traceStorage, type TraceStorage } from './tracing/traces.ts';
import { workspaceStorage, type WorkspaceStorage } from './tracing/workspaces.ts';
import { workerStorage, type WorkerStorage } from './deployment/workers.ts';
import { deliveryStorage, type DeliveryStorage } from './deployment/webhooks/webhook-deliveries.ts';
import { statement } from './postgres/statement.ts';

export interface Storage {
  agentTasks: AgentTaskStorage;
  apiKeys: ApiKeyStorage;
  assistants: AssistantStorage;
  checkpoints: CheckpointStorage;
  consoleSessions: ConsoleSessionStorage;
  crons: CronStorage;
  periodicTasks: PeriodicTaskStorage;
  encryptionKeys: EncryptionKeyStorage;
  expiry: ExpiryStorage;
  deliveries: DeliveryStorage;
  health: DatabaseHealth;
  exports: ExportStorage;
  partitionRuns: PartitionRunStorage;
  exportEstimates: ReturnType<typeof exportEstimates>;
  exportLeases: ExportLeaseStorage;
  destinations: DestinationStorage;
  feedback: FeedbackStorage;
  feedbackTokens: FeedbackTokenStorage;
  items: StoreItemStorage;
  runLeases: RunLeaseStorage;
  runQueue: RunQueueStorage;
  runLog: RunLogStorage;
  modelPrices: ModelPriceStorage;
  pruning: PruningStorage;
  runs: RunStorage;
  subgraphs: SubgraphStorage;
  threads: ThreadStorage;
  tickets: TicketStorage;
  projects: ProjectStorage;
  traces: TraceStorage;
  traceHours: TraceHourStorage;
  tracePartitions: TracePartitionStorage;
  workers: WorkerStorage;
  workspaces: WorkspaceStorage;
  /** Resolves when the database has answered a trivial query. */
  ping(): Promise<void>;
}

const alive = statement('select 1');

/** `traceReads`: where lists and sums of traces are read, which may be a replica; the database itself when absent. */
export const createStorage = (
  db: Database,
  answers = defaultAnswerLimits,
  traceReads: Transactions = db,
): Storage => ({
  agentTasks: agentTaskStorage(db),
  apiKeys: apiKeyStorage(db),
  assistants: assistantStorage(db, answers),
  checkpoints: checkpointStorage(db, answers),
  consoleSessions: consoleSessionStorage(db),
  crons: cronStorage(db, answers),
  periodicTasks: periodicTaskStorage(db),
  encryptionKeys: encryptionKeyStorage(db),
  expiry: expiryStorage(db),
  deliveries: deliveryStorage(db, answers),
  health: databaseHealth(db),
  exports: exportStorage(db),
  partitionRuns: partitionRunStorage(db),
  exportEstimates: exportEstimates(db),
  exportLeases: exportLeaseStorage(db),
  destinations: destinationStorage(db),
  feedback: feedbackStorage(db),
  feedbackTokens: feedbackTokenStorage(db),
  items: storeItemStorage(db, answers),
  runLeases: runLeaseStorage(db),
  runQueue: runQueueStorage(db),
  runLog: runLogStorage(db),
  modelPrices: modelPriceStorage(db),
  pruning: pruningStorage(db),
  runs: runStorage(db, answers),
  subgraphs: subgraphStorage(db),
  threads: threadStorage(db, answers),
  tickets: ticketStorage(db),
  projects: projectStorage(db),
  traces: traceStorage(db, answers, traceReads),
  traceHours: traceHourStorage(db),
  tracePartitions: tracePartitionStorage(db),
  workers: workerStorage(db),
  workspaces: workspaceStorage(db),
  async ping() {
    await db.query(alive, []);
  },
});
