// Why a read was executed on the primary instead of the replica.
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import { WrongServer } from '../postgres/host-selector.ts';
import { originalError, policyOf } from '../postgres/sql-state.ts';

export const fallbackReasons = [
  /** No connection, or it broke. */
  'unreachable',
  /** All connections to the replica are in use. */
  'busy',
  /** The replica has not replayed enough. */
  'lag',
  /** The replica cancelled the statement, because it conflicted with what it had to replay. */
  'conflict',
  /** The server is not a standby, for example because it was promoted. */
  'not_standby',
  /** The server is a standby of another cluster, or of another timeline of the primary. */
  'other_history',
  /** Any other error of the replica, such as a table that it does not have yet. */
  'error',
] as const;

export type FallbackReason = (typeof fallbackReasons)[number];

/** What reads from the replica. */
const replicaUses = ['traces', 'exports'] as const;
export type ReplicaUse = (typeof replicaUses)[number];

/** The replica must not be used for this read. */
export class ReplicaUnusable extends Error {
  override readonly name = 'ReplicaUnusable';
  readonly reason: FallbackReason;

  constructor(reason: FallbackReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Counts reads that the replica has executed, and fallbacks, since the start of the process. All counts begin with 0, so that the first
 * fallback shows in a rate.
 */
export class ReplicaTally {
  readonly reads = new Map<ReplicaUse, number>(replicaUses.map((use) => [use, 0]));
  readonly fallbacks = new Map(
    replicaUses.map((use) => [
      use,
      new Map<FallbackReason, number>(fallbackReasons.map((reason) => [reason, 0])),
    ]),
  );

  addRead(use: ReplicaUse, count = 1): void {
    this.reads.set(use, (this.reads.get(use) ?? 0) + count);
  }

  addFallback(use: ReplicaUse, reason: FallbackReason): void {
    const counts = this.fallbacks.get(use);
    counts?.set(reason, (counts.get(reason) ?? 0) + 1);
  }
}

/** For an error of a transaction on the replica. Undefined when the same would happen on the primary: the error is the caller's. */
export const fallbackReasonOf = (error: unknown): FallbackReason | undefined => {
  if (error instanceof ReplicaUnusable) return error.reason;
  const origin = originalError(error);
  if (origin instanceof ReplicaUnusable) return origin.reason;
  if (origin instanceof WrongServer) return 'not_standby';
  if (origin instanceof pg.DatabaseError) return reasonOfDatabase(origin);
  // Errors of a connection are Problems with a cause. Everything else was thrown by the work itself.
  return error instanceof Problem && error.cause !== undefined && error.code === 'unavailable'
    ? 'unreachable'
    : undefined;
};

const conflictCodes: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);
const queryCanceled = '57014';

const reasonOfDatabase = (error: pg.DatabaseError): FallbackReason | undefined => {
  if (conflictCodes.has(error.code) || /conflict with recovery/.test(error.message)) return 'conflict';
  // The caller has set the time limit, and handles it.
  if (error.code === queryCanceled) return undefined;
  return policyOf(error).connection === 'dropped' ? 'unreachable' : 'error';
};
