// Executes exports on this process: claims what is due into free slots, keeps the leases, and says what has become of each.
//
//   claimed ─▶ running ─┬─ done ─────────────▶ completed
//                       ├─ failed ───────────▶ tried again, or failed for good: the database decides
//                       ├─ exporter lost ────▶ requeued, nobody is charged for it
//                       ├─ the server stops ─▶ requeued
//                       ├─ lease not renewed ▶ requeued, if that can be said; else whoever finds it does
//                       └─ ours no longer ───▶ nothing: cancelled, timed out, or somebody else's
//
// Claims are asked for when the notifications says that there may be something, when a slot has become free, and by a poll that heals whatever
// was missed; it also settles what others have left: leases that are over, and what has taken too long.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { untilAborted } from '../../abort.ts';
import { CoalescedTask } from '../../jobs/coalesced-task.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { LeaseKeeper, type LeaseLoss } from '../../jobs/lease-keeper.ts';
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

/** Tries of what must be said once the database is back. */
const sayAgainMs = { first: 50, max: 2_000 };

export class ExportWorker implements AsyncDisposable {
  readonly tally = new ExportTally();
  readonly #options: ExportWorkerOptions;
  readonly #attempts: LeaseKeeper<ExportAttempt>;
  /** Those that shall stop, and have not yet. */
  readonly #leaving = new Set<ExportAttempt>();
  readonly #claims: CoalescedTask;
  readonly #sweeps: CoalescedTask;
  readonly #saying = new Set<Promise<void>>();
  readonly #poll: NodeJS.Timeout;
  #isDraining = false;
  #isClosing = false;
  #onQuiet: (() => void) | undefined;

  constructor(options: ExportWorkerOptions) {
    this.#options = options;
    const { leaseMs, notifications, logger } = options;
    this.#claims = new CoalescedTask(() =>
      this.#claimAll().catch((error: unknown) =>
        logger.error({ err: error }, 'export runs could not be claimed; will try again'),
      ),
    );
    this.#sweeps = new CoalescedTask(() =>
      this.#sweep().catch((error: unknown) =>
        logger.error({ err: error }, 'exports could not be looked through; will try again'),
      ),
    );
    this.#attempts = new LeaseKeeper({
      leaseMs,
      renew: (held) => options.leases.renew(held, leaseMs),
      onLost: (attempt, loss) => this.#onLeaseLost(attempt, loss),
      logger,
    });
    notifications.on('x', (export_id) => this.#onRing(export_id));
    notifications.onMissed(() => {
      this.#claims.trigger();
      void this.#check(this.#attempts.all());
    });
    this.#poll = setInterval(() => {
      this.#sweeps.trigger();
      this.#claims.trigger();
    }, options.pollMs);
  }

  get running(): number {
    return this.#attempts.size;
  }

  /** What it has done so far, for its metrics. */
  figures() {
    const { attempts, seconds, files, rows, bytes, rawBytes } = this.tally;
    const { pool } = this.#options;
    const lost = { leasesLost: this.#attempts.losses, crashes: pool?.crashes ?? 0 };
    return { attempts, seconds, files, rows, bytes, rawBytes, running: this.running, ...lost };
  }

  /**
   * No more claims; resolves when nothing runs here any more, after `graceMs`, or when hurried. What runs finishes the file at
   * hand, and goes back to be claimed elsewhere.
   */
  async drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    this.#isDraining = true;
    await this.#claims.stop();
    const quiet = new Promise<void>((resolve) => (this.#onQuiet = resolve));
    for (const attempt of this.#attempts.all()) attempt.windUp();
    this.#checkQuiet();
    if (hurry.aborted) return;
    const over = AbortSignal.any([hurry, AbortSignal.timeout(Math.min(graceMs, 2 ** 31 - 1))]);
    await Promise.race([quiet, untilAborted(over)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDraining = true;
    this.#isClosing = true;
    clearInterval(this.#poll);
    await Promise.all([this.#claims.stop(), this.#sweeps.stop()]);
    const quiet = new Promise<void>((resolve) => (this.#onQuiet = resolve));
    for (const attempt of this.#attempts.all()) this.#leave(attempt, 'the server stops');
    this.#checkQuiet();
    await quiet;
    this.#attempts[Symbol.dispose]();
    await this.#options.pool?.[Symbol.asyncDispose]();
    await Promise.allSettled(this.#saying);
    await this.#options.temp[Symbol.asyncDispose]();
  }

  #onRing(export_id: string): void {
    this.#claims.trigger();
    void this.#check(this.#attempts.all().filter((attempt) => attempt.export_id === export_id));
  }

  async #sweep(): Promise<void> {
    const { leases, times, retry } = this.#options;
    await leases.sweep(times, retry);
  }

  async #claimAll(): Promise<void> {
    const { leases, leaseMs, limits, pool } = this.#options;
    if (!pool) return;
    for (;;) {
      const free = this.#isDraining ? 0 : pool.freeSlots;
      if (free <= 0) return;
      const manifests = await leases.claimManifests(free, leaseMs);
      for (const claimed of manifests.claimed)
        await this.#start(claimed, manifests.sinceMs, (target) => toManifestCommand(claimed, target));
      const left = free - manifests.claimed.length;
      const runs =
        left > 0 ? await leases.claimPartitionRuns(left, leaseMs, limits) : { claimed: [], sinceMs: 0 };
      for (const claimed of runs.claimed) await this.#startPartitionRun(claimed, runs.sinceMs);
      if (manifests.claimed.length + runs.claimed.length === 0) return;
    }
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

  /** Looks whether these are still ours, since something was said of their export. */
  async #check(attempts: ExportAttempt[]): Promise<void> {
    if (attempts.length === 0) return;
    const { leases, leaseMs, logger } = this.#options;
    try {
      const ours = await leases.renew(attempts, leaseMs);
      for (const attempt of attempts)
        if (!ours.has(attempt.id) && this.#attempts.drop(attempt)) this.#leave(attempt, 'ours no longer');
    } catch (error) {
      logger.warn({ err: error }, 'leases could not be looked at; their renewal will tell');
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

  /** An exporter has said how it ended, or it never began. */
  #over(attempt: ExportAttempt, outcome: ExportOutcome): void {
    this.#end(attempt, outcome.kind);
    this.#settle(attempt, outcome);
    this.#claims.trigger();
    this.#checkQuiet();
  }

  #settle(attempt: ExportAttempt, outcome: ExportOutcome): void {
    const { leases, retry, logger } = this.#options;
    const { lease, export_id, id, task } = attempt;
    if (outcome.kind === 'done') {
      // A manifest is complete with its last step.
      if (task === 'run') this.#say(attempt, () => leases.completePartitionRun(lease));
    } else if (outcome.kind === 'fenced' || attempt.stopped === 'ours no longer') {
      logger.info({ export_id, id, task }, 'an attempt of an export is ours no longer');
    } else if (outcome.kind === 'failed') {
      const { cause, message, detail } = outcome;
      logger.warn({ export_id, id, task, cause, detail }, `an attempt of an export failed: ${message}`);
      this.#say(attempt, () => leases.fail(lease, { cause, message }, retry));
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
    this.#say(attempt, () => leases.requeue(attempt.lease, reason, retry));
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

  /** Until it has been said, or the server stops. */
  #say({ id }: ExportAttempt, what: () => Promise<unknown>): void {
    const trying = (async () => {
      for (let delayMs = sayAgainMs.first; ; delayMs = Math.min(delayMs * 2, sayAgainMs.max)) {
        try {
          await what();
          return;
        } catch (error) {
          this.#options.logger.error(
            { err: error, id },
            'what has become of an export could not be said; will try again',
          );
          if (this.#isClosing) return;
          await sleep(delayMs);
        }
      }
    })();
    this.#saying.add(trying);
    void trying.finally(() => {
      this.#saying.delete(trying);
      this.#claims.trigger();
      this.#checkQuiet();
    });
  }

  #checkQuiet(): void {
    if (this.#attempts.size + this.#leaving.size + this.#saying.size === 0) this.#onQuiet?.();
  }
}

const folderOf = ({ id, lease_token }: ExportLease): string => `${id}-${lease_token}`;
