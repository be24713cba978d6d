// All SQL of the server, one object of functions per noun.
import { defaultAnswerLimits } from './postgres/answer-limits.ts';
import { agentTaskStorage } from './deployment/runs/agent-tasks.ts';
import { apiKeyStorage } from './auth/api-keys.ts';
import { consoleSessionStorage } from './auth/console-sessions.ts';
import { ticketStorage } from './auth/tickets.ts';
import { assistantStorage } from './deployment/assistants/assistants.ts';
import { checkpointStorage } from './deployment/checkpoints/checkpoints.ts';
import { cronStorage } from './deployment/crons.ts';
import { jobStorage } from './deployment/jobs.ts';
import type { Database, Transactions } from './postgres/database.ts';
import { exportEstimates } from './exports/export-estimates.ts';
import { exportLeaseStorage } from './exports/export-leases.ts';
import { partitionRunStorage } from './exports/partition-runs.ts';
import { exportStorage } from './exports/exports.ts';
import { feedbackTokenStorage } from './tracing/feedback-tokens.ts';
import { feedbackStorage } from './tracing/feedback.ts';
import { runLeaseStorage } from './deployment/runs/run-leases.ts';
import { runQueueStorage } from './deployment/runs/run-queue.ts';
import { runLogStorage } from './deployment/runs/run-log.ts';
import { periodicTaskStorage } from './periodic-tasks.ts';
import { encryptionKeyStorage } from './auth/encryption-keys.ts';
import { destinationStorage } from './exports/export-destinations.ts';
import { databaseHealth } from './postgres/health.ts';
import { expiryStorage } from './deployment/threads/expiry.ts';
import { modelPriceStorage } from './tracing/model-prices.ts';
import { pruningStorage } from './deployment/threads/pruning.ts';
import { runStorage } from './deployment/runs/runs.ts';
import { subgraphStorage } from './deployment/checkpoints/subgraphs.ts';
import { storeItemStorage } from './deployment/store/store-items.ts';
import { threadStorage } from './deployment/threads/threads.ts';
import { projectStorage } from './tracing/projects.ts';
import { traceHourStorage } from './tracing/trace-hours.ts';
import { tracePartitionStorage } from './tracing/trace-partitions.ts';
import { traceStorage } from './tracing/traces.ts';
import { workspaceStorage } from './tracing/workspaces.ts';
import { workerStorage } from './deployment/workers.ts';
import { deliveryStorage } from './deployment/webhooks/webhook-deliveries.ts';
import { statement } from './postgres/statement.ts';

export type Storage = ReturnType<typeof createStorage>;

const alive = statement('select 1');

/** `traceReads`: where lists and sums of traces are read, which may be a replica; the database itself when absent. */
export const createStorage = (
  db: Database,
  answers = defaultAnswerLimits,
  traceReads: Transactions = db,
) => ({
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
  jobs: jobStorage(db),
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
  /** Resolves when the database has answered a trivial query. */
  async ping(): Promise<void> {
    await db.query(alive, []);
  },
});
