// All that the server asks of its store, by noun.
import { defaultAnswerLimits } from './answer-limits.ts';
import { apiKeyStorage, type ApiKeyStorage } from './api-keys.ts';
import { assistantStorage, type AssistantStorage } from './assistants.ts';
import { checkpointStorage, type CheckpointStorage } from './checkpoints.ts';
import { cronStorage, type CronStorage } from './crons.ts';
import type { Database } from './database.ts';
import { exportEstimates } from './export-estimates.ts';
import { exportLeaseStorage, type ExportLeaseStorage } from './export-leases.ts';
import { exportRunStorage, type ExportRunStorage } from './export-runs.ts';
import { exportStorage, type ExportStorage } from './exports.ts';
import { feedbackStorage, type FeedbackStorage } from './feedback.ts';
import { runLeaseStorage, type RunLeaseStorage } from './run-leases.ts';
import { runQueueStorage, type RunQueueStorage } from './run-queue.ts';
import { runLogStorage, type RunLogStorage } from './run-log.ts';
import { dutyStorage, type DutyStorage } from './duties.ts';
import { encryptionKeyStorage, type EncryptionKeyStorage } from './encryption-keys.ts';
import { destinationStorage, type DestinationStorage } from './export-destinations.ts';
import { databaseHealth, type DatabaseHealth } from './health.ts';
import { expiryStorage, type ExpiryStorage } from './expiry.ts';
import { modelPriceStorage, type ModelPriceStorage } from './model-prices.ts';
import { pruningStorage, type PruningStorage } from './pruning.ts';
import { runStorage, type RunStorage } from './runs.ts';
import { storeItemStorage, type StoreItemStorage } from './store-items.ts';
import { threadStorage, type ThreadStorage } from './threads.ts';
import { projectStorage, type ProjectStorage } from './projects.ts';
import { type TraceHourStorage, traceHourStorage } from './trace-hours.ts';
import { tracePartitionStorage, type TracePartitionStorage } from './trace-partitions.ts';
import { traceStorage, type TraceStorage } from './traces.ts';
import { workspaceStorage, type WorkspaceStorage } from './workspaces.ts';
import { workerStorage, type WorkerStorage } from './workers.ts';
import { deliveryStorage, type DeliveryStorage } from './webhook-deliveries.ts';

export interface Storage {
  apiKeys: ApiKeyStorage;
  assistants: AssistantStorage;
  checkpoints: CheckpointStorage;
  crons: CronStorage;
  duties: DutyStorage;
  encryptionKeys: EncryptionKeyStorage;
  expiry: ExpiryStorage;
  deliveries: DeliveryStorage;
  health: DatabaseHealth;
  exports: ExportStorage;
  exportRuns: ExportRunStorage;
  exportEstimates: ReturnType<typeof exportEstimates>;
  exportLeases: ExportLeaseStorage;
  destinations: DestinationStorage;
  feedback: FeedbackStorage;
  items: StoreItemStorage;
  runLeases: RunLeaseStorage;
  runQueue: RunQueueStorage;
  runLog: RunLogStorage;
  modelPrices: ModelPriceStorage;
  pruning: PruningStorage;
  runs: RunStorage;
  threads: ThreadStorage;
  projects: ProjectStorage;
  traces: TraceStorage;
  traceHours: TraceHourStorage;
  tracePartitions: TracePartitionStorage;
  workers: WorkerStorage;
  workspaces: WorkspaceStorage;
  /** Answers once the database has answered. */
  ping(): Promise<void>;
}

export const createStorage = (db: Database, answers = defaultAnswerLimits): Storage => ({
  apiKeys: apiKeyStorage(db),
  assistants: assistantStorage(db, answers),
  checkpoints: checkpointStorage(db, answers),
  crons: cronStorage(db, answers),
  duties: dutyStorage(db),
  encryptionKeys: encryptionKeyStorage(db),
  expiry: expiryStorage(db),
  deliveries: deliveryStorage(db),
  health: databaseHealth(db),
  exports: exportStorage(db),
  exportRuns: exportRunStorage(db),
  exportEstimates: exportEstimates(db),
  exportLeases: exportLeaseStorage(db),
  destinations: destinationStorage(db),
  feedback: feedbackStorage(db),
  items: storeItemStorage(db, answers),
  runLeases: runLeaseStorage(db),
  runQueue: runQueueStorage(db),
  runLog: runLogStorage(db),
  modelPrices: modelPriceStorage(db),
  pruning: pruningStorage(db),
  runs: runStorage(db, answers),
  threads: threadStorage(db, answers),
  projects: projectStorage(db),
  traces: traceStorage(db, answers),
  traceHours: traceHourStorage(db),
  tracePartitions: tracePartitionStorage(db),
  workers: workerStorage(db),
  workspaces: workspaceStorage(db),
  async ping() {
    await db.query({ name: 'ping', text: 'select 1' }, []);
  },
});
