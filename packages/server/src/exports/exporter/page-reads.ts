// Where the pages of one attempt of a partition run are read: the replica, if there is one and it has all rows, or the database.
import type { Database, Transactions } from '../../storage/postgres/database.ts';
import { ExportReads } from '../../storage/replica/export-reads.ts';
import type { ReplicaConnections } from '../../storage/replica/replica-connections.ts';
import { primaryPosition, type PrimaryPosition } from '../../storage/replica/wal-position.ts';
import type { ReplicaFigures } from './exporter-protocol.ts';
import { retried } from './retried-steps.ts';

export interface ExporterReplica {
  connections: ReplicaConnections;
  waitMs: number;
}

export interface PageReads {
  reads: Transactions;
  /** Undefined without a replica. */
  figures: ReplicaFigures | undefined;
}

/**
 * Call it after the attempt was claimed and before its start is recorded: the start is a commit, which flushes the position that the replica
 * has to reach. Otherwise the position might stay unflushed while the primary is idle.
 */
export const openPageReads = async (
  database: Database,
  replica: ExporterReplica | undefined,
  signal: AbortSignal,
): Promise<PageReads> => {
  if (replica === undefined) return { reads: database, figures: undefined };
  const figures: ReplicaFigures = { reads: 0, fallback: null };
  let start: PrimaryPosition;
  try {
    start = await retried(() => primaryPosition(database), signal)();
  } catch {
    signal.throwIfAborted();
    // For example, the role may not execute pg_control_system(). `svc doctor` reports that.
    figures.fallback = 'error';
    return { reads: database, figures };
  }
  const reads = new ExportReads({
    primary: database,
    replica: replica.connections,
    start,
    waitMs: replica.waitMs,
    onRead: () => (figures.reads += 1),
    onFallback: (reason) => (figures.fallback = reason),
    signal,
  });
  return { reads, figures };
};
