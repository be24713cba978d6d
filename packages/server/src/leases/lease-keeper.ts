// Keeps the leases that this process holds, and says in time when one cannot be kept.
//
// The database's clock decides when a lease ends; here only spans of the monotonic clock are measured, from the
// moment before a claim or renewal was asked for, hence never too long. What was not renewed when a sixth of its
// span is left is lost by our own decision, before anyone else can take it.
import type { Logger } from 'pino';
import type { Lease } from '../storage/lease.ts';

/** Why a lease is held no longer: somebody else has it, or nobody could be asked. */
export type LossReason = 'taken' | 'not renewed';

export interface LeaseKeeperOptions<L extends Lease> {
  leaseMs: number;
  /** Renews; resolves with the ids of those that are still ours. */
  renew: (leases: L[]) => Promise<ReadonlySet<string>>;
  /** Must not throw. The lease is no longer kept. */
  onLost: (lease: L, reason: LossReason) => void;
  logger: Logger;
}

interface Kept<L> {
  lease: L;
  /** Monotonic milliseconds. */
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
  #renewals = 0;
  /** How many leases were lost while they were held here. */
  losses = 0;

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

  /** `sinceMs`: monotonic time from before the lease was asked for. */
  keep(lease: L, sinceMs: number): void {
    this.#kept.set(lease.id, { lease, goodUntilMs: this.#goodUntil(sinceMs), missingSinceMs: undefined });
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
    if (asked.length === 0 || this.#renewals >= renewalsMax) return;
    const sinceMs = performance.now();
    this.#renewals += 1;
    try {
      const ours = await this.#options.renew(asked);
      for (const lease of asked) {
        const kept = this.#kept.get(lease.id);
        if (kept?.lease !== lease) continue;
        if (ours.has(lease.id)) kept.goodUntilMs = Math.max(kept.goodUntilMs, this.#goodUntil(sinceMs));
        else kept.missingSinceMs ??= performance.now();
      }
    } catch (error) {
      this.#options.logger.error({ err: error, leases: asked.length }, 'leases could not be renewed');
    } finally {
      this.#renewals -= 1;
    }
  }

  #fence(): void {
    const nowMs = performance.now();
    for (const { lease, goodUntilMs, missingSinceMs } of this.#kept.values()) {
      if (missingSinceMs !== undefined && missingSinceMs + this.#missingMaxMs <= nowMs)
        this.#lose(lease, 'taken');
      else if (goodUntilMs <= nowMs) this.#lose(lease, 'not renewed');
    }
  }

  #lose(lease: L, reason: LossReason): void {
    if (!this.drop(lease)) return;
    this.losses += 1;
    this.#options.onLost(lease, reason);
  }
}
