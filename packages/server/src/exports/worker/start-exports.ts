// Builds the export worker of this process with its exporter pool.
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../../config/settings/settings.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { exporterConnections, exporterReplicaConnections } from '../../storage/postgres/connection-plan.ts';
import type { DatabaseOptions } from '../../storage/postgres/database.ts';
import type { ExportLeaseStorage } from '../../storage/exports/export-leases.ts';
import type { ReplicaTally } from '../../storage/replica/fallback.ts';
import { replicaOptions } from '../../storage/replica/replica-connections.ts';
import { ExportWorker, type ExportWorkerOptions } from './export-worker.ts';
import type { ExporterSetup } from '../exporter/exporter-protocol.ts';
import { ExporterPool } from './exporter-pool.ts';
import { TempFolders } from './temp-folders.ts';
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';

export interface ExportParts {
  leases: ExportLeaseStorage;
  targetOf: ExportWorkerOptions['targetOf'];
  notifications: NotificationBus;
  /** Options with which exporters open their own connections. */
  database: DatabaseOptions;
  /** Counts the reads of exporters from the replica. */
  replicaTally?: ReplicaTally | undefined;
  /** Maximum number of exporters; 0: this process executes no exports. */
  slots: number;
  settings: Pick<Settings, 'exports' | 'egress' | 'storage'>;
  onWriteFailure?: ExportWorkerOptions['onWriteFailure'];
  logger: Logger;
  /** The program of exporter processes; tests use their own. */
  program?: string;
}

/** Maximum poll interval. The interval is also at most half a lease. */
const pollMsMax = 1_000;

export const startExports = (parts: ExportParts): ExportWorker => {
  const { leases, targetOf, replicaTally, notifications, slots, logger, program } = parts;
  const { exports, egress, storage } = parts.settings;
  const { leaseMs, fileRoots, folderRules, lendsCredentials } = exports;
  const setup: ExporterSetup = {
    ...(storage.replica && {
      replica: {
        database: replicaOptions(storage.replica.uri.reveal(), exporterReplicaConnections),
        waitMs: storage.replica.exportWaitMs,
      },
    }),
    database: { ...parts.database, poolMax: exporterConnections },
    stores: { allow: egress.allow, fileRoots, folderRules, lendsCredentials },
  };
  const pool =
    slots === 0 ? undefined : new ExporterPool({ setup, slots, logger, ...(program ? { program } : {}) });
  return new ExportWorker({
    leases,
    targetOf,
    pool,
    temp: new TempFolders(join(storage.dataDir, 'tmp', 'exports')),
    replicaTally,
    notifications,
    leaseMs,
    limits: { runsPerExport: exports.runsPerExport, exportsPerWorkspace: exports.exportsPerWorkspace },
    times: { timeoutMs: exports.timeoutMs, runTimeoutMs: exports.runTimeoutMs },
    retry: { retries: exports.retries, delayMs: exports.retryDelayMs },
    fileBytes: exports.fileBytes,
    freeBytes: folderRules.freeBytes,
    pollMs: Math.min(pollMsMax, leaseMs / 2),
    onWriteFailure: parts.onWriteFailure,
    logger,
  });
};

// Periodic tasks of exports.

const everyMs = 5_000;
const batch = 50;

interface ScheduleRules {
  /** Delay between the end of a window and its export. */
  scheduleLagMs: number;
  /** Maximum number of unfinished exports of one schedule. */
  exportsPerWorkspace: number;
}

export const exportTasks = (
  leases: Pick<ExportLeaseStorage, 'spawn'>,
  { scheduleLagMs, exportsPerWorkspace }: ScheduleRules,
): PeriodicTask[] => [
  {
    name: 'export-schedules',
    everyMs,
    // Each call creates at most one export per schedule. A schedule that is behind gets the next one by the next call.
    work: () => leases.spawn(scheduleLagMs, exportsPerWorkspace, batch),
  },
];
