// Renews the leases that this process holds, and reports in time when one is lost.
//
// The database's clock decides when a lease ends. This process measures only durations, by the monotonic clock, from the
// moment before a claim or renewal is sent, so it never assumes that a lease is longer than it is. When a sixth of its duration
// is left and it could not be renewed, the lease counts as lost, before another process can claim it.
import type { Logger } from 'pino';
import type { Lease } from '../storage/postgres/lease.ts';

/**
 * Why a lease was lost. `taken`: another process has claimed it. `database`: renewals failed or were not answered. `late`: this
 * process did not run in time to send one.
 */
export type LossReason = 'taken' | 'database' | 'late';

export interface LeaseLoss {
  reason: LossReason;
  /** For the log. */
  message: string;
}

export interface LeaseKeeperOptions<L extends Lease> {
  leaseMs: number;
  /** Renews the leases; resolves with the ids of those that are still valid. */
  renew: (leases: L[]) => Promise<ReadonlySet<string>>;
  /** Called when a lease was lost and is no longer kept. Must not throw. */
  onLost: (lease: L, loss: LeaseLoss) => void;
  logger: Logger;
}

interface Kept<L> {
  lease: L;
  /** When the last successful claim or renewal was sent. Monotonic milliseconds, as below. */
  confirmedMs: number;
  goodUntilMs: number;
  /** When a renewal first did not confirm the lease. */
  missingSinceMs: number | undefined;
}

/**
 * Grace period for a lease that a renewal did not confirm, at most a twelfth of a lease: its job may have ended in the database, and be dropped
 * here soon. On a busy machine more than a second passes between the two.
 */
const missingMaxMs = 5_000;

/** Renewals under way at once: a renewal that hangs must not delay the next one. */
const renewalsMax = 3;

export class LeaseKeeper<L extends Lease> {
  readonly #options: LeaseKeeperOptions<L>;
  readonly #kept = new Map<string, Kept<L>>();
  readonly #timers: NodeJS.Timeout[];
  readonly #missingMaxMs: number;
  /** The times at which unanswered renewals were sent. */
  readonly #sentMs = new Set<number>();
  #failure: { ms: number; message: string } | undefined;
  #checkedMs = performance.now();
  /** The longest recent pause between two checks, in which this process did not run, and when it ended. */
  #stall = { ms: 0, endedMs: 0 };
  /** Leases that this process has lost. */
  readonly lossesByReason = new Map<LossReason, number>();

  constructor(options: LeaseKeeperOptions<L>) {
    this.#options = options;
    const { leaseMs } = options;
    this.#missingMaxMs = Math.min(missingMaxMs, leaseMs / 12);
    this.#timers = [
      setInterval(() => void this.#renew(), leaseMs / 3),
      setInterval(() => this.#fence(), leaseMs / 12),
    ];
  }

  get size(): number {
    return this.#kept.size;
  }

  get losses(): number {
    let count = 0;
    for (const losses of this.lossesByReason.values()) count += losses;
    return count;
  }

  /**
   * Keeps and renews the lease. `sinceMs`: monotonic time from before the claim. An earlier lease with the same id is lost: another
   * process has put the job back, and this one has claimed it again before a renewal or a check showed that.
   */
  keep(lease: L, sinceMs: number): void {
    const earlier = this.#kept.get(lease.id);
    const nowMs = performance.now();
    if (earlier) this.#lose(earlier, nowMs, nowMs < earlier.goodUntilMs);
    const goodUntilMs = this.#goodUntil(sinceMs);
    this.#kept.set(lease.id, { lease, confirmedMs: sinceMs, goodUntilMs, missingSinceMs: undefined });
  }

  /** True when a lease that was claimed at that monotonic time is still valid without a renewal. */
  isGood(sinceMs: number): boolean {
    return performance.now() < this.#goodUntil(sinceMs);
  }

  find(id: string): L | undefined {
    return this.#kept.get(id)?.lease;
  }

  /** Stops keeping the lease, without reporting a loss. False when the lease is not kept, or a newer one with the same id is. */
  drop({ id, lease_token }: Lease): boolean {
    if (this.#kept.get(id)?.lease.lease_token !== lease_token) return false;
    return this.#kept.delete(id);
  }

  all(): L[] {
    return [...this.#kept.values()].map(({ lease }) => lease);
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#kept.clear();
  }

  #goodUntil(sinceMs: number): number {
    return sinceMs + (this.#options.leaseMs * 5) / 6;
  }

  async #renew(): Promise<void> {
    const leases = this.all();
    if (leases.length === 0 || this.#sentMs.size >= renewalsMax) return;
    const sinceMs = performance.now();
    this.#sentMs.add(sinceMs);
    try {
      const confirmed = await this.#options.renew(leases);
      for (const lease of leases) {
        const kept = this.#kept.get(lease.id);
        if (kept?.lease !== lease) continue;
        if (confirmed.has(lease.id)) {
          kept.confirmedMs = Math.max(kept.confirmedMs, sinceMs);
          kept.goodUntilMs = Math.max(kept.goodUntilMs, this.#goodUntil(sinceMs));
        } else kept.missingSinceMs ??= performance.now();
      }
    } catch (error) {
      this.#failure = { ms: performance.now(), message: (error as Error).message };
      this.#options.logger.error({ err: error, leases: leases.length }, 'failed to renew leases, retrying');
    } finally {
      this.#sentMs.delete(sinceMs);
    }
  }

  #fence(): void {
    const nowMs = performance.now();
    const gapMs = nowMs - this.#checkedMs;
    this.#checkedMs = nowMs;
    if (gapMs >= this.#stall.ms || nowMs - this.#stall.endedMs > this.#options.leaseMs)
      this.#stall = { ms: gapMs, endedMs: nowMs };
    for (const kept of this.#kept.values()) {
      const { goodUntilMs, missingSinceMs } = kept;
      if (missingSinceMs !== undefined && missingSinceMs + this.#missingMaxMs <= nowMs)
        this.#lose(kept, nowMs, true);
      else if (goodUntilMs <= nowMs) this.#lose(kept, nowMs, false);
    }
  }

  #lose({ lease, confirmedMs }: Kept<L>, nowMs: number, isTaken: boolean): void {
    if (!this.drop(lease)) return;
    const cause = this.#causeSince(confirmedMs);
    const reason = isTaken ? 'taken' : cause.reason;
    this.lossesByReason.set(reason, (this.lossesByReason.get(reason) ?? 0) + 1);
    const message = `lease ${lease.lease_token} was last renewed ${seconds(nowMs - confirmedMs)} ago${cause.text}`;
    this.#options.onLost(lease, { reason, message });
  }

  /** Why a lease that was confirmed at that time has not been renewed since. */
  #causeSince(confirmedMs: number): { reason: 'database' | 'late'; text: string } {
    const { ms, endedMs } = this.#stall;
    // A renewal is sent every third of a lease, so a longer pause delays it.
    if (endedMs > confirmedMs && ms > this.#options.leaseMs / 3)
      return { reason: 'late', text: `; this process did not run for ${seconds(ms)}` };
    if (this.#failure && this.#failure.ms > confirmedMs)
      return { reason: 'database', text: `; the renewal failed: ${this.#failure.message}` };
    const [sentMs] = this.#sentMs;
    if (sentMs !== undefined)
      return {
        reason: 'database',
        text: `; the database has not answered for ${seconds(performance.now() - sentMs)}`,
      };
    return { reason: 'late', text: '' };
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
