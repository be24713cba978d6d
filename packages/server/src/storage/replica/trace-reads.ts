// Reads of traces: on the replica while it is reachable and its lag is within the limit, otherwise on the primary.
import type { Database, Transactions } from '../postgres/database.ts';
import { fallbackReasonOf, type ReplicaTally } from './fallback.ts';
import type { ReplicaConnections } from './replica-connections.ts';
import type { ReplicaMonitor } from './replica-monitor.ts';

export interface TraceReadParts {
  primary: Transactions;
  replica: ReplicaConnections;
  monitor: ReplicaMonitor;
  tally: ReplicaTally;
}

/** The transactions must only read, and may be executed twice. */
export const traceReads = ({ primary, replica, monitor, tally }: TraceReadParts): Transactions => ({
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
