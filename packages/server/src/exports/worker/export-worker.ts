// Executes exports on this process: claims due partition runs and manifests into free slots, keeps their leases, and saves the
// outcome of each attempt.
//
//   claimed ─▶ running ─┬─ done ─────────────▶ completed
//                       ├─ failed ───────────▶ retried, or failed finally: the database decides
//                       ├─ exporter lost ────▶ requeued, not charged
//                       ├─ the server stops ─▶ requeued
//                       ├─ lease not renewed ▶ requeued, if that can be saved; else another worker does when the lease ends
//                       └─ ours no longer ───▶ nothing: cancelled, timed out, or claimed by another worker
import type { Logger } from 'pino';
import { BackgroundWrites } from '../../jobs/background-writes.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { LeaseKeeper, type LeaseLoss } from '../../jobs/lease-keeper.ts';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import type {
  ClaimLimits,
  ClaimedManifest,
  ClaimedPartitionRun,
  ExportLeaseStorage,
  ExportTimes,
  RetryRules,
} from '../../storage/exports/export-leases.ts';
import type { ExportLease } from '../../storage/exports/export-lease.ts';
import type { StoreTarget } from '../destinations/store-target.ts';
import { ExportAttempt } from './export-attempt.ts';
import { toManifestCommand, toPartitionRunCommand } from './export-command.ts';
import type { ExporterPool } from './exporter-pool.ts';
import type { ExportCommand, ExportOutcome } from '../exporter/exporter-protocol.ts';
import { toFailure } from '../exporter/failure.ts';
import { ExportTally } from './export-tally.ts';
import type { TempFolders } from './temp-folders.ts';

export interface ExportWorkerOptions {
  leases: ExportLeaseStorage;
  /** A destination with its secrets. Rejects when there is none, or its secrets cannot be opened. */
  targetOf: (tenant_id: string, destination_id: string) => Promise<StoreTarget>;
  /** Undefined: this process executes none, and only settles what others have left. */
  pool: ExporterPool | undefined;
  temp: TempFolders;
  notifications: NotificationBus;
  leaseMs: number;
  limits: ClaimLimits;
  times: ExportTimes;
  retry: RetryRules;
  /** Of a file, before it is compressed. */
  fileBytes: number;
  /** Left free on the disk of temporary files. */
  freeBytes: number;
  /** How often to look for what nobody announced. */
  pollMs: number;
  logger: Logger;
}

export class ExportWorker implements AsyncDisposable {
  readonly tally = new ExportTally();
  readonly #options: ExportWorkerOptions;
  readonly #attempts: LeaseKeeper<ExportAttempt>;
  /** Attempts without a lease that have not stopped yet. */
  readonly #leaving = new Set<ExportAttempt>();
  readonly #claims: WorkerLoop;
  /** Requeues what has lost its lease or taken too long, on any node. */
  readonly #sweeps: WorkerLoop;
  readonly #writes: BackgroundWrites;

  constructor(options: ExportWorkerOptions) {
    this.#options = options;
    const { leases, leaseMs, notifications, pool, pollMs, logger } = options;
    this.#claims = new WorkerLoop({
      task: 'claim export partition runs',
      claim: (free) => this.#claim(free),
      freeSlots: () => pool?.freeSlots ?? 0,
      running: () => this.#attempts.size + this.#leaving.size + this.#writes.size,
      notifications: { bus: notifications, kind: 'x' },
      pollMs,
      logger,
    });
    this.#sweeps = new WorkerLoop({
      task: 'requeue what other workers have lost of exports',
      claim: async () => {
        await leases.sweep(options.times, options.retry);
      },
      pollMs,
      logger,
    });
    this.#writes = new BackgroundWrites(logger, 'failed to save the outcome of an export attempt, retrying');
    this.#attempts = new LeaseKeeper({
      leaseMs,
      renew: (held) => leases.renew(held, leaseMs),
      onLost: (attempt, loss) => this.#onLeaseLost(attempt, loss),
      logger,
    });
    notifications.on(
      'x',
      (export_id) =>
        void this.#check(this.#attempts.all().filter((attempt) => attempt.export_id === export_id)),
    );
    notifications.onMissed(() => void this.#check(this.#attempts.all()));
  }

  get running(): number {
    return this.#attempts.size;
  }

  /** Totals for the metrics. */
  figures() {
    const { attempts, seconds, files, rows, bytes, rawBytes } = this.tally;
    const { pool } = this.#options;
    const lost = { leasesLost: this.#attempts.losses, crashes: pool?.crashes ?? 0 };
    return { attempts, seconds, files, rows, bytes, rawBytes, running: this.running, ...lost };
  }

  /**
   * Claims no more; resolves when nothing runs here any more, after `graceMs`, or when hurried. Attempts finish the file at
   * hand and are requeued.
   */
  async drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    await this.#claims.stop();
    for (const attempt of this.#attempts.all()) attempt.windUp();
    await this.#claims.drain(graceMs, hurry);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#writes.stop();
    await Promise.all([this.#claims.stop(), this.#sweeps.stop()]);
    for (const attempt of this.#attempts.all()) this.#leave(attempt, 'the server stops');
    await this.#claims.drain();
    this.#attempts[Symbol.dispose]();
    await this.#options.pool?.[Symbol.asyncDispose]();
    await this.#writes[Symbol.asyncDispose]();
    await this.#options.temp[Symbol.asyncDispose]();
  }

  async #claim(free: number): Promise<boolean> {
    const { leases, leaseMs, limits } = this.#options;
    const manifests = await leases.claimManifests(free, leaseMs);
    for (const claimed of manifests.claimed)
      await this.#start(claimed, manifests.sinceMs, (target) => toManifestCommand(claimed, target));
    const left = free - manifests.claimed.length;
    const runs =
      left > 0 ? await leases.claimPartitionRuns(left, leaseMs, limits) : { claimed: [], sinceMs: 0 };
    for (const claimed of runs.claimed) await this.#startPartitionRun(claimed, runs.sinceMs);
    return manifests.claimed.length + runs.claimed.length > 0;
  }

  #startPartitionRun(claimed: ClaimedPartitionRun, sinceMs: number): Promise<void> {
    const { temp, fileBytes, freeBytes } = this.#options;
    return this.#start(claimed, sinceMs, async (target) => {
      const tempDir = await temp.make(folderOf(claimed.lease));
      return toPartitionRunCommand(claimed, target, { tempDir, fileBytes, freeBytes });
    });
  }

  async #start(
    { lease, export: of }: ClaimedPartitionRun | ClaimedManifest,
    sinceMs: number,
    commandFor: (target: StoreTarget) => ExportCommand | Promise<ExportCommand>,
  ): Promise<void> {
    const { pool, targetOf } = this.#options;
    const attempt = new ExportAttempt(lease, of.id);
    this.#attempts.keep(attempt, sinceMs);
    try {
      const command = await commandFor(await targetOf(of.tenant_id, of.destination_id));
      if (attempt.stopped) return this.#over(attempt, { kind: 'stopped' });
      attempt.exporter = pool?.run(command, {
        onFile: (file) => this.tally.addFile(file),
        onOutcome: (outcome) => this.#over(attempt, outcome),
        onLost: (reason) => this.#onExporterLost(attempt, reason),
      });
    } catch (error) {
      this.#over(attempt, toFailure(error));
    }
  }

  /** Stops the attempts that have lost their leases, after a notification about their export. */
  async #check(attempts: ExportAttempt[]): Promise<void> {
    if (attempts.length === 0) return;
    const { leases, leaseMs, logger } = this.#options;
    try {
      const ours = await leases.renew(attempts, leaseMs);
      for (const attempt of attempts)
        if (!ours.has(attempt.id) && this.#attempts.drop(attempt)) this.#leave(attempt, 'ours no longer');
    } catch (error) {
      logger.warn({ err: error }, 'failed to check the leases of exports; their next renewal checks them');
    }
  }

  #onLeaseLost(attempt: ExportAttempt, { reason }: LeaseLoss): void {
    this.#leave(attempt, reason === 'taken' ? 'ours no longer' : 'lease not renewed');
  }

  #leave(attempt: ExportAttempt, why: NonNullable<ExportAttempt['stopped']>): void {
    const { id, export_id, task } = attempt;
    this.#options.logger.info({ export_id, id, task, why }, 'an attempt of an export is stopped');
    this.#leaving.add(attempt);
    attempt.stop(why);
  }

  #onExporterLost(attempt: ExportAttempt, reason: string): void {
    // Killed because it did not stop in time.
    if (attempt.stopped) return this.#over(attempt, { kind: 'stopped' });
    this.#end(attempt, 'lost');
    this.#requeue(attempt, `The process that executed it ended (${reason})`);
  }

  /** The exporter has reported the outcome, or the attempt was never started. */
  #over(attempt: ExportAttempt, outcome: ExportOutcome): void {
    this.#end(attempt, outcome.kind);
    this.#settle(attempt, outcome);
    this.#afterOne();
  }

  #settle(attempt: ExportAttempt, outcome: ExportOutcome): void {
    const { leases, retry, logger } = this.#options;
    const { lease, export_id, id, task } = attempt;
    if (outcome.kind === 'done') {
      // A manifest is complete with its last step.
      if (task === 'run') this.#write(attempt, () => leases.completePartitionRun(lease));
    } else if (outcome.kind === 'fenced' || attempt.stopped === 'ours no longer') {
      logger.info({ export_id, id, task }, 'an attempt of an export is ours no longer');
    } else if (outcome.kind === 'failed') {
      const { cause, message, detail } = outcome;
      logger.warn({ export_id, id, task, cause, detail }, `an attempt of an export failed: ${message}`);
      this.#write(attempt, () => leases.fail(lease, { cause, message }, retry));
    } else {
      const isAway = attempt.stopped === 'lease not renewed';
      const reason = isAway
        ? 'Its worker could not reach the database'
        : 'The server that executed it stopped';
      this.#requeue(attempt, reason);
    }
  }

  #requeue(attempt: ExportAttempt, reason: string): void {
    const { leases, retry } = this.#options;
    this.#write(attempt, () => leases.requeue(attempt.lease, reason, retry));
  }

  #end(attempt: ExportAttempt, how: ExportOutcome['kind'] | 'lost'): void {
    attempt[Symbol.dispose]();
    this.#attempts.drop(attempt);
    this.#leaving.delete(attempt);
    this.tally.addAttempt(how, performance.now() - attempt.startedMs);
    const { temp, logger } = this.#options;
    temp
      .remove(folderOf(attempt))
      .catch((error: unknown) => logger.warn({ err: error }, 'temporary files are left behind'));
  }

  #write({ id }: ExportAttempt, write: () => Promise<unknown>): void {
    void this.#writes.start(write, { id }).then(() => this.#afterOne());
  }

  /** Also when a slot was free before: the end of an attempt may allow its export or workspace another one. */
  #afterOne(): void {
    this.#claims.wake();
    this.#claims.slotFreed();
  }
}

const folderOf = ({ id, lease_token }: ExportLease): string => `${id}-${lease_token}`;
