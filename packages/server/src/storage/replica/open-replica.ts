// The replica of a server process: its connections, its monitor, and the reads of traces that use it.
import type { Database, Transactions } from '../postgres/database.ts';
import { fallbackReasonOf, ReplicaTally } from './fallback.ts';
import { ReplicaConnections, replicaOptions } from './replica-connections.ts';
import { ReplicaMonitor, type ReplicaState } from './replica-monitor.ts';

export interface Replica extends AsyncDisposable {
  traceReads: Transactions;
  tally: ReplicaTally;
  readonly state: ReplicaState;
}

export interface ReplicaParts {
  uri: string;
  primary: Database;
  poolMax: number;
  lagMaxMs: number;
  /** Called when the replica becomes reachable (without an error) or unreachable. Must not throw. */
  onChange?: (error: unknown) => void;
}

/** Of positions. A lag limit below four seconds needs them more often. */
const intervalMsMax = 1_000;

/** Opens no connection yet, so a replica that is down does not delay a start. */
export const openReplica = ({ uri, primary, poolMax, lagMaxMs, onChange }: ReplicaParts): Replica => {
  const replica = new ReplicaConnections(replicaOptions(uri, poolMax));
  const probe = new ReplicaConnections(replicaOptions(uri, 1));
  const intervalMs = Math.min(intervalMsMax, lagMaxMs / 4);
  const monitor = new ReplicaMonitor({ primary, replica: probe, intervalMs, lagMaxMs, onChange });
  const tally = new ReplicaTally();
  return {
    traceReads: traceReads({ primary, replica, monitor, tally }),
    tally,
    get state() {
      return monitor.state;
    },
    async [Symbol.asyncDispose]() {
      await monitor[Symbol.asyncDispose]();
      await probe[Symbol.asyncDispose]();
      await replica[Symbol.asyncDispose]();
    },
  };
};

interface TraceReadParts {
  primary: Transactions;
  replica: ReplicaConnections;
  monitor: ReplicaMonitor;
  tally: ReplicaTally;
}

/**
 * Reads of traces: on the replica while it is reachable and its lag is within the limit, otherwise on the primary. The transactions must only read,
 * and may be executed twice.
 */
const traceReads = ({ primary, replica, monitor, tally }: TraceReadParts): Transactions => ({
  async transact<T>(work: (tx: Database) => Promise<T>): Promise<T> {
    try {
      const reachable = monitor.reachable();
      const result = await replica.transact((position) => monitor.check(position), work, reachable);
      tally.addRead('traces');
      return result;
    } catch (error) {
      const reason = fallbackReasonOf(error);
      if (reason === undefined) throw error;
      tally.addFallback('traces', reason);
    }
    return primary.transact(work);
  },
});
