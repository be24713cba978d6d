// Renews the leases that this process holds, and reports in time when one is lost.
//
// The database's clock decides when a lease ends; here only spans of the monotonic clock are measured, from the
// moment before a claim or renewal was sent, hence never too long. A lease that was not renewed when a sixth of its
// span is left is given up by this process, before anyone else can take it.
import type { Logger } from 'pino';
import type { Lease } from '../storage/postgres/lease.ts';

/**
 * Why a lease is held no longer. `taken`: the database says that it is not ours any more. `database`: renewals failed or were
 * not answered. `late`: this process did not run in time to send one.
 */
export type LossReason = 'taken' | 'database' | 'late';

export interface LeaseLoss {
  reason: LossReason;
  /** What this process knows of it, for people. */
  message: string;
}

export interface LeaseKeeperOptions<L extends Lease> {
  leaseMs: number;
  /** Renews; resolves with the ids of those that are still ours. */
  renew: (leases: L[]) => Promise<ReadonlySet<string>>;
  /** Must not throw. The lease is no longer kept. */
  onLost: (lease: L, loss: LeaseLoss) => void;
  logger: Logger;
}

interface Kept<L> {
  lease: L;
  /** When the claim or renewal was sent that it was last confirmed by. Monotonic milliseconds, as below. */
  confirmedMs: number;
  goodUntilMs: number;
  /** Since when the database has not called it ours. */
  missingSinceMs: number | undefined;
}

/** What has just ended in the database is about to be dropped here: it is not lost. */
const missingMaxMs = 1000;

/** Renewals on their way at once: one that hangs must not stop the next. */
const renewalsMax = 3;

export class LeaseKeeper<L extends Lease> {
  readonly #options: LeaseKeeperOptions<L>;
  readonly #kept = new Map<string, Kept<L>>();
  readonly #timers: NodeJS.Timeout[];
  readonly #missingMaxMs: number;
  /** When renewals were sent that have not been answered. */
  readonly #sentMs = new Set<number>();
  #failure: { ms: number; message: string } | undefined;
  #checkedMs = performance.now();
  /** The longest time in which this process did not get to check its leases, and when that ended. */
  #stall = { ms: 0, endedMs: 0 };
  /** Leases lost while they were held here. */
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

  /** `sinceMs`: monotonic time from before the lease was asked for. */
  keep(lease: L, sinceMs: number): void {
    const goodUntilMs = this.#goodUntil(sinceMs);
    this.#kept.set(lease.id, { lease, confirmedMs: sinceMs, goodUntilMs, missingSinceMs: undefined });
  }

  /** Whether a lease that was asked for at that time, on the monotonic clock, may still be relied on. */
  isGood(sinceMs: number): boolean {
    return performance.now() < this.#goodUntil(sinceMs);
  }

  find(id: string): L | undefined {
    return this.#kept.get(id)?.lease;
  }

  /** The lease is over in good order, or somebody else's business now. Ignored when it is a newer one of the same id. */
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
    const asked = this.all();
    if (asked.length === 0 || this.#sentMs.size >= renewalsMax) return;
    const sinceMs = performance.now();
    this.#sentMs.add(sinceMs);
    try {
      const ours = await this.#options.renew(asked);
      for (const lease of asked) {
        const kept = this.#kept.get(lease.id);
        if (kept?.lease !== lease) continue;
        if (ours.has(lease.id)) {
          kept.confirmedMs = Math.max(kept.confirmedMs, sinceMs);
          kept.goodUntilMs = Math.max(kept.goodUntilMs, this.#goodUntil(sinceMs));
        } else kept.missingSinceMs ??= performance.now();
      }
    } catch (error) {
      this.#failure = { ms: performance.now(), message: (error as Error).message };
      this.#options.logger.error({ err: error, leases: asked.length }, 'leases could not be renewed');
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

  /** Why a lease that was confirmed then has not been renewed since. */
  #causeSince(confirmedMs: number): { reason: 'database' | 'late'; text: string } {
    const { ms, endedMs } = this.#stall;
    // Renewals are due every third of a lease: one such pause is enough to miss them.
    if (endedMs > confirmedMs && ms > this.#options.leaseMs / 3)
      return { reason: 'late', text: `; this process stood still for ${seconds(ms)}` };
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
