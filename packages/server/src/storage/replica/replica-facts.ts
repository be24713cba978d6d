// What an operator wants to know about the replica: whether it follows the primary, and how far it is behind.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { hasReplayed, primaryPosition, type StandbyPosition } from './wal-position.ts';
import { ReplicaConnections, replicaOptions } from './replica-connections.ts';

export interface ReplicaFacts {
  version: string;
  /** The schema svc exists. */
  has_schema: boolean;
  is_standby: boolean;
  /** The same cluster and database as the primary. */
  is_same_cluster: boolean;
  is_same_timeline: boolean;
  /** Milliseconds until the replica had replayed the position of the primary; undefined when it took longer than the limit. */
  replayed_after_ms: number | undefined;
  /** Bytes that it has not replayed of that position. */
  bytes_behind: number;
}

const pollMs = 50;

const schemaStatement = {
  text: `select current_setting('server_version') as version,
      exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'svc' and c.relname = 'trace_runs') as has_schema`,
};

/** Waits for the replay for at most `waitMs`. Rejects when the replica cannot be reached, or a position cannot be read. */
export const readReplicaFacts = async (
  primary: Database,
  uri: string,
  waitMs: number,
): Promise<ReplicaFacts> => {
  await using replica = new ReplicaConnections({
    ...replicaOptions(uri, 1),
    applicationName: 'svc doctor',
  });
  const target = await primaryPosition(primary);
  const startedMs = performance.now();
  let position: StandbyPosition = await replica.position();
  while (
    position.is_standby &&
    !hasReplayed(position, target.flushed) &&
    performance.now() - startedMs < waitMs
  ) {
    await sleep(pollMs);
    position = await replica.position();
  }
  const isReplayed = hasReplayed(position, target.flushed);
  const rows = await replica.transact(
    () => undefined,
    (tx) => tx.query<Pick<ReplicaFacts, 'version' | 'has_schema'>>(schemaStatement, []),
  );
  const { version = '', has_schema = false } = rows[0] ?? {};
  return {
    version,
    has_schema,
    is_standby: position.is_standby,
    is_same_cluster: position.system === target.system && position.database === target.database,
    is_same_timeline: position.timeline === target.timeline,
    replayed_after_ms: isReplayed ? Math.round(performance.now() - startedMs) : undefined,
    bytes_behind: isReplayed ? 0 : Number(target.flushed - (position.replayed ?? 0n)),
  };
};
