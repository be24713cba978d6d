// Executes exports on this process: claims due partition runs and manifests up to the number of free slots, renews their leases, and
// saves the outcome of each attempt.
//
//   claimed ─▶ running ─┬─ done ─────────────▶ completed
//                       ├─ failed ───────────▶ retried, or failed permanently: the database decides
//                       ├─ exporter lost ────▶ requeued; the fifth in a row without a file counts as failed
//                       ├─ server stops ─────▶ requeued
//                       ├─ lease not renewed ▶ requeued; if that cannot be saved, by another worker when the lease ends
//                       └─ lease revoked ────▶ nothing is saved: cancelled, timed out, or claimed by another worker
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../../config/settings/settings.ts';
import { type BackgroundWriteOptions, BackgroundWrites } from '../../jobs/background-writes.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { LeaseKeeper, type LeaseLoss } from '../../jobs/lease-keeper.ts';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import { exporterConnections, exporterReplicaConnections } from '../../storage/postgres/connection-plan.ts';
import type { DatabaseOptions } from '../../storage/postgres/database.ts';
import type {
  ClaimedManifest,
  ClaimedPartitionRun,
  ExportLeaseStorage,
} from '../../storage/exports/export-leases.ts';
import type { ExportLease } from '../../storage/exports/export-lease.ts';
import type { ReplicaTally } from '../../storage/replica/fallback.ts';
import { replicaOptions } from '../../storage/replica/replica-connections.ts';
import type { StoreTarget } from '../destinations/store-target.ts';
import {
  ExportAttempt,
  type StopReason,
  toManifestCommand,
  toPartitionRunCommand,
} from './export-attempt.ts';
import { ExporterPool } from './exporter-pool.ts';
import type {
  ExportCommand,
  ExporterSetup,
  ExportOutcome,
  ReplicaFigures,
  WrittenFigures,
} from '../exporter/exporter-protocol.ts';
import { toFailure } from '../exporter/failure.ts';
import { TempFolders } from './temp-folders.ts';

export interface ExportWorkerOptions {
  leases: ExportLeaseStorage;
  /** Returns a destination with its decrypted secrets. Rejects when it does not exist, or decryption fails. */
  targetOf: (tenant_id: string, destination_id: string) => Promise<StoreTarget>;
  notifications: NotificationBus;
  /** Options with which exporters open their own connections. */
  database: DatabaseOptions;
  /** Counts the reads of exporters from the replica; undefined without a replica. */
  replicaTally?: ReplicaTally | undefined;
  /** Maximum number of exporters; 0: this process executes no exports, and only requeues the lost attempts of other workers. */
  slots: number;
  settings: Pick<Settings, 'exports' | 'egress' | 'storage'>;
  /** Called when the outcome of an attempt could not be stored with this try. */
  onWriteFailure?: BackgroundWriteOptions['onFailure'];
  logger: Logger;
  /** The program of exporter processes; tests use their own. */
  program?: string;
}

/** Maximum poll interval, for work without a notification. The interval is also at most half a lease. */
const pollMsMax = 1_000;

const openPool = ({
  database,
  slots,
  settings,
  logger,
  program,
}: ExportWorkerOptions): ExporterPool | undefined => {
  if (slots === 0) return undefined;
  const { fileRoots, folderRules, lendsCredentials } = settings.exports;
  const { replica } = settings.storage;
  const setup: ExporterSetup = {
    ...(replica && {
      replica: {
        database: replicaOptions(replica.uri.reveal(), exporterReplicaConnections),
        waitMs: replica.exportWaitMs,
      },
    }),
    database: { ...database, poolMax: exporterConnections },
    stores: { allow: settings.egress.allow, fileRoots, folderRules, lendsCredentials },
  };
  return new ExporterPool({ setup, slots, logger, ...(program ? { program } : {}) });
};

export class ExportWorker implements AsyncDisposable {
  readonly tally = new ExportTally();
  readonly #options: ExportWorkerOptions;
  readonly #rules: Settings['exports'];
  readonly #pool: ExporterPool | undefined;
  readonly #temp: TempFolders;
  readonly #attempts: LeaseKeeper<ExportAttempt>;
  /** Attempts that are being stopped. Their leases are no longer renewed. */
  readonly #stopping = new Set<ExportAttempt>();
  readonly #claims: WorkerLoop;
  /** Requeues attempts of any node that have lost their lease or exceeded their time limit. */
  readonly #sweeps: WorkerLoop;
  readonly #writes: BackgroundWrites;

  constructor(options: ExportWorkerOptions) {
    this.#options = options;
    const { leases, notifications, settings, logger } = options;
    this.#rules = settings.exports;
    this.#pool = openPool(options);
    this.#temp = new TempFolders(join(settings.storage.dataDir, 'tmp', 'exports'));
    const { leaseMs } = this.#rules;
    const pollMs = Math.min(pollMsMax, leaseMs / 2);
    this.#claims = new WorkerLoop({
      task: 'claim export partition runs',
      claim: (free) => this.#claim(free),
      freeSlots: () => this.#pool?.freeSlots ?? 0,
      running: () => this.#attempts.size + this.#stopping.size + this.#writes.size,
      hasOtherLimits: true, // attempts per export and per workspace
      notifications: { bus: notifications, kind: 'x' },
      pollMs,
      logger,
    });
    this.#sweeps = new WorkerLoop({
      task: 'requeue lost and expired export attempts',
      claim: async () => {
        await leases.sweep(this.#rules);
      },
      pollMs,
      logger,
    });
    const message = 'failed to save the outcome of an export attempt';
    this.#writes = new BackgroundWrites({ logger, message, onFailure: options.onWriteFailure });
    this.#attempts = new LeaseKeeper({
      leaseMs,
      renew: (held) => leases.renew(held, leaseMs),
      onLost: (attempt, loss) => this.#onLeaseLost(attempt, loss),
      logger,
    });
    notifications.on(
      'x',
      (export_id) =>
        void this.#checkLeases(this.#attempts.all().filter((attempt) => attempt.export_id === export_id)),
    );
    notifications.onMissed(() => void this.#checkLeases(this.#attempts.all()));
  }

  get running(): number {
    return this.#attempts.size;
  }

  /** Totals for the metrics. */
  figures() {
    const { attempts, seconds, files, rows, bytes, rawBytes } = this.tally;
    const lost = { leasesLost: this.#attempts.losses, crashes: this.#pool?.crashes ?? 0 };
    return { attempts, seconds, files, rows, bytes, rawBytes, running: this.running, ...lost };
  }

  /**
   * Stops claiming. Running attempts commit their current file and are requeued. Resolves when no attempt is running, after
   * `graceMs`, or when `hurry` is aborted.
   */
  async drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    await this.#claims.stop();
    for (const attempt of this.#attempts.all()) attempt.stopAfterFile();
    await this.#claims.drain(graceMs, hurry);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#writes.stop();
    await Promise.all([this.#claims.stop(), this.#sweeps.stop()]);
    for (const attempt of this.#attempts.all()) this.#stopAttempt(attempt, 'server stops');
    await this.#claims.drain();
    this.#attempts[Symbol.dispose]();
    await this.#pool?.[Symbol.asyncDispose]();
    await this.#writes[Symbol.asyncDispose]();
    await this.#temp[Symbol.asyncDispose]();
  }

  async #claim(free: number): Promise<boolean> {
    const { leases } = this.#options;
    const { leaseMs } = this.#rules;
    const manifests = await leases.claimManifests(free, leaseMs);
    for (const claimed of manifests.claimed)
      await this.#start(claimed, manifests.sinceMs, (target) => toManifestCommand(claimed, target));
    const left = free - manifests.claimed.length;
    const runs =
      left > 0 ? await leases.claimPartitionRuns(left, leaseMs, this.#rules) : { claimed: [], sinceMs: 0 };
    for (const claimed of runs.claimed) await this.#startPartitionRun(claimed, runs.sinceMs);
    return manifests.claimed.length + runs.claimed.length > 0;
  }

  #startPartitionRun(claimed: ClaimedPartitionRun, sinceMs: number): Promise<void> {
    const { fileBytes, folderRules } = this.#rules;
    return this.#start(claimed, sinceMs, async (target) => {
      const tempDir = await this.#temp.make(folderOf(claimed.lease));
      return toPartitionRunCommand(claimed, target, { tempDir, fileBytes, freeBytes: folderRules.freeBytes });
    });
  }

  async #start(
    { lease, export: of }: ClaimedPartitionRun | ClaimedManifest,
    sinceMs: number,
    commandFor: (target: StoreTarget) => ExportCommand | Promise<ExportCommand>,
  ): Promise<void> {
    const { targetOf } = this.#options;
    const attempt = new ExportAttempt(lease, of.id);
    this.#attempts.keep(attempt, sinceMs);
    try {
      const command = await commandFor(await targetOf(of.tenant_id, of.destination_id));
      if (attempt.stopped) return this.#onOutcome(attempt, { kind: 'stopped' });
      attempt.exporter = this.#pool?.run(command, {
        onFile: (file) => this.tally.addFile(file),
        onReplica: (figures) => this.#countReplica(figures),
        onOutcome: (outcome) => this.#onOutcome(attempt, outcome),
        onLost: (reason) => this.#onExporterLost(attempt, reason),
      });
    } catch (error) {
      this.#onOutcome(attempt, toFailure(error));
    }
  }

  #countReplica({ reads, fallback }: ReplicaFigures): void {
    const { replicaTally } = this.#options;
    replicaTally?.addRead('exports', reads);
    if (fallback !== null) replicaTally?.addFallback('exports', fallback);
  }

  /** Stops attempts whose leases are revoked. Called after a notification about their export. */
  async #checkLeases(attempts: ExportAttempt[]): Promise<void> {
    if (attempts.length === 0) return;
    const { leases, logger } = this.#options;
    try {
      const renewed = await leases.renew(attempts, this.#rules.leaseMs);
      for (const attempt of attempts)
        if (!renewed.has(attempt.id) && this.#attempts.drop(attempt))
          this.#stopAttempt(attempt, 'lease revoked');
    } catch (error) {
      logger.warn({ err: error }, 'failed to check the leases of exports; their next renewal checks them');
    }
  }

  #onLeaseLost(attempt: ExportAttempt, { reason }: LeaseLoss): void {
    this.#stopAttempt(attempt, reason === 'taken' ? 'lease revoked' : 'lease not renewed');
  }

  #stopAttempt(attempt: ExportAttempt, reason: StopReason): void {
    const { id, export_id, task } = attempt;
    this.#options.logger.info({ export_id, id, task, reason }, 'stopping an export attempt');
    this.#stopping.add(attempt);
    attempt.stop(reason);
  }

  #onExporterLost(attempt: ExportAttempt, reason: string): void {
    // The exporter was killed because it did not stop within the grace period.
    if (attempt.stopped) return this.#onOutcome(attempt, { kind: 'stopped' });
    this.#end(attempt, 'lost');
    this.#requeue(attempt, `The exporter process ended unexpectedly (${reason})`);
  }

  /** The exporter has reported the outcome, or the attempt was never started. */
  #onOutcome(attempt: ExportAttempt, outcome: ExportOutcome): void {
    this.#end(attempt, outcome.kind);
    this.#settle(attempt, outcome);
    this.#claims.slotFreed();
  }

  #settle(attempt: ExportAttempt, outcome: ExportOutcome): void {
    const { leases, logger } = this.#options;
    const { lease, export_id, id, task } = attempt;
    if (outcome.kind === 'done') {
      // The exporter itself completes the export when it writes the manifest.
      if (task === 'run') this.#write(attempt, () => leases.completePartitionRun(lease));
    } else if (outcome.kind === 'fenced' || attempt.stopped === 'lease revoked') {
      logger.info({ export_id, id, task }, 'export attempt discarded: its lease was revoked');
    } else if (outcome.kind === 'failed') {
      const { cause, message, detail } = outcome;
      logger.warn({ export_id, id, task, cause, detail }, `export attempt failed: ${message}`);
      this.#write(attempt, () => leases.fail(lease, { cause, message }, this.#rules));
    } else {
      const reason =
        attempt.stopped === 'lease not renewed'
          ? 'The worker could not renew the lease'
          : 'The server stopped during the attempt';
      this.#requeue(attempt, reason);
    }
  }

  #requeue(attempt: ExportAttempt, reason: string): void {
    const { leases } = this.#options;
    this.#write(attempt, () => leases.requeue(attempt.lease, reason, this.#rules));
  }

  #end(attempt: ExportAttempt, end: AttemptEnd): void {
    attempt[Symbol.dispose]();
    this.#attempts.drop(attempt);
    this.#stopping.delete(attempt);
    this.tally.addAttempt(end, performance.now() - attempt.startedMs);
    this.#temp
      .remove(folderOf(attempt))
      .catch((error: unknown) =>
        this.#options.logger.warn({ err: error }, 'failed to remove temporary files of an export'),
      );
  }

  #write({ id }: ExportAttempt, write: () => Promise<unknown>): void {
    void this.#writes.start(write, { id }).then(() => this.#claims.slotFreed());
  }
}

const folderOf = ({ id, lease_token }: ExportLease): string => `${id}-${lease_token}`;

// Totals of the export attempts of this process since its start, for metrics.

type AttemptEnd = ExportOutcome['kind'] | 'lost';

class ExportTally {
  readonly attempts = new Map<AttemptEnd, number>();
  /** Duration of all attempts together. */
  seconds = 0;
  files = 0;
  rows = 0;
  /** Size of the files. */
  bytes = 0;
  /** Size of the rows before compression. */
  rawBytes = 0;

  addFile({ rows, bytes, raw_bytes }: WrittenFigures): void {
    this.files += 1;
    this.rows += rows;
    this.bytes += bytes;
    this.rawBytes += raw_bytes;
  }

  addAttempt(end: AttemptEnd, ms: number): void {
    this.attempts.set(end, (this.attempts.get(end) ?? 0) + 1);
    this.seconds += ms / 1_000;
  }
}
