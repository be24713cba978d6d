// Positions in the write-ahead log (WAL), on the primary and on a standby that replays it.
//
// Positions can be compared only within one history: the same cluster (system identifier) and the same timeline. After a promotion, a
// standby of the old primary may have replayed a part of the old timeline that the new primary does not have.
import type { Database } from '../postgres/database.ts';
import { readStatement } from '../postgres/statement.ts';
import { ReplicaUnusable } from './fallback.ts';

/** Where positions belong to. Two servers with the same history have the same bytes at the same position. */
export interface WalHistory {
  /** The system identifier, which a standby has in common with its primary only. */
  system: string;
  timeline: number;
  /** The name of the database, since the URIs of both servers name one. */
  database: string;
}

export interface PrimaryPosition extends WalHistory {
  /** Everything up to here is on the disk of the primary, and may be sent to standbys. */
  flushed: bigint;
  /** Everything that the primary has written so far, flushed or not. */
  inserted: bigint;
}

export interface StandbyPosition extends WalHistory {
  /** False when the server is a primary: always, or since its promotion. */
  is_standby: boolean;
  /** Everything up to here is visible in statements that begin later. Null when nothing was replayed yet. */
  replayed: bigint | null;
}

/** Of statements that read a position; a server that is up needs milliseconds. */
export const positionMs = 2_000;

const bytes = (lsn: string): string => `(${lsn} - '0/0'::pg_lsn)::text`;
const identity = `s.system_identifier::text as system, current_database()::text as database`;

/** The name of a WAL file begins with the timeline in hexadecimal. */
export const primaryStatement = readStatement<PrimaryRow>(
  `select ${identity}, ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::integer as timeline,
      ${bytes('pg_current_wal_flush_lsn()')} as flushed, ${bytes('pg_current_wal_insert_lsn()')} as inserted
    from pg_control_system() s`,
  { timeoutMs: positionMs },
);

/** A standby knows its timeline from its last restart point. After a promotion it has the new one within a checkpoint. */
export const standbyText = `select ${identity}, c.timeline_id as timeline, pg_is_in_recovery() as is_standby,
    ${bytes('pg_last_wal_replay_lsn()')} as replayed
  from pg_control_system() s, pg_control_checkpoint() c`;

interface PrimaryRow extends WalHistory {
  flushed: string;
  inserted: string;
}

export interface StandbyRow extends WalHistory {
  is_standby: boolean;
  replayed: string | null;
}

/** Reads the position of the primary. Every commit that was acknowledged before the call is at or before `inserted`. */
export const primaryPosition = async (primary: Pick<Database, 'query'>): Promise<PrimaryPosition> => {
  const [row] = await primary.query(primaryStatement, []);
  if (row === undefined) throw new Error('The statement returned no row');
  return { ...row, flushed: BigInt(row.flushed), inserted: BigInt(row.inserted) };
};

export const toStandbyPosition = (row: StandbyRow): StandbyPosition => ({
  ...row,
  replayed: row.replayed === null ? null : BigInt(row.replayed),
});

export const hasSameHistory = (one: WalHistory, other: WalHistory): boolean =>
  one.system === other.system && one.timeline === other.timeline && one.database === other.database;

/** Throws ReplicaUnusable unless the server is a standby with the history of the primary. */
export const checkHistory = (position: StandbyPosition, primary: WalHistory): void => {
  if (!position.is_standby) throw new ReplicaUnusable('not_standby', 'The replica is not a standby');
  if (!hasSameHistory(position, primary))
    throw new ReplicaUnusable('other_history', 'The replica does not follow the history of the primary');
};

/** True when the replica has replayed everything up to a position of the primary. */
export const hasReplayed = ({ replayed }: StandbyPosition, target: bigint): boolean =>
  replayed !== null && replayed >= target;
