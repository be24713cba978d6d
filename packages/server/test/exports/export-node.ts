// The part of a server process that executes exports: real parts with short times, so that a test can wait for their effects. Several nodes
// on one database act as several workers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { testSettings, type TestSettings } from '../settings.ts';
import { EgressGuard } from '../../src/net/guard.ts';
import { NotificationBus } from '../../src/jobs/notification-bus.ts';
import { CredentialVault } from '../../src/exports/destinations/credential-vault.ts';
import { DestinationService } from '../../src/exports/destinations/destination-service.ts';
import { ExportWorker } from '../../src/exports/worker/export-worker.ts';
import { LazySealer } from '../../src/auth/sealed-users/lazy-sealer.ts';
import { ReplicaTally } from '../../src/storage/replica/fallback.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import type { TestDatabase } from '../database.ts';

export interface ExportNode extends AsyncDisposable {
  worker: ExportWorker;
  /** What its exporters have read from a replica. */
  replicaTally: ReplicaTally;
  destinations: DestinationService;
  storage: Storage;
  dataDir: string;
}

/** Shared by all nodes of a test run, because they share databases. */
const encryptionKey = Buffer.alloc(32, 7).toString('base64');
const defaults: TestSettings = {
  encryptionKey,
  exportSlots: '2',
  exportLeaseMs: 30_000,
  exportRetryDelayMs: 20,
  exportRetries: 3,
  exportFileBytes: 102_400,
  egressAllow: '127.0.0.1',
};

/** `program`: the program of its exporter processes. */
export const startExportNode = async (
  db: TestDatabase,
  { settings: given = {}, program }: { settings?: TestSettings; program?: string } = {},
): Promise<ExportNode> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-exporting-'));
  const settings = testSettings({
    dataDir,
    databaseUri: db.uri,
    exportFileRoots: tmpdir(),
    ...defaults,
    ...given,
  });
  const storage = createStorage(db);
  const { fileRoots, folderRules, lendsCredentials } = settings.exports;
  const sealer = new LazySealer({
    encryptionKey: settings.auth.encryptionKey,
    storage: settings.storage,
    keys: storage.encryptionKeys,
  });
  const destinations = new DestinationService({
    destinations: storage.destinations,
    vault: new CredentialVault(sealer),
    stores: { guard: new EgressGuard(settings.egress.allow), fileRoots, folderRules, lendsCredentials },
  });
  const replicaTally = new ReplicaTally();
  const notifications = new NotificationBus();
  const worker = new ExportWorker({
    leases: storage.exportLeases,
    targetOf: (tenant_id, id) => destinations.target(tenant_id, id),
    replicaTally,
    notifications,
    database: db.options,
    slots: settings.exports.slots,
    settings,
    logger: pino({ level: process.env['SVC_TEST_LOG'] ?? 'silent' }),
    ...(program ? { program } : {}),
  });
  await notifications.open(db);
  return {
    worker,
    replicaTally,
    destinations,
    storage,
    dataDir,
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await notifications[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
