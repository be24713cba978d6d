// The replica of a server process: its connections, its monitor, and the reads of traces that use it.
import type { Database, Transactions } from '../postgres/database.ts';
import { ReplicaTally } from './fallback.ts';
import { ReplicaConnections, replicaOptions } from './replica-connections.ts';
import { ReplicaMonitor, type ReplicaState } from './replica-monitor.ts';
import { traceReads } from './trace-reads.ts';

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
