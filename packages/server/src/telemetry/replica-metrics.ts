// Metrics of the replica from which traces and the rows of exports are read.
import { Counter, Gauge, type Registry } from 'prom-client';

/** Values that are read at each scrape. */
export interface ReplicaGauges {
  readonly state: { is_reachable: boolean; lag_seconds: number; lag_bytes: number };
  /** Totals of this process and its exporters since the start, by use and by reason. */
  readonly tally: {
    reads: ReadonlyMap<string, number>;
    fallbacks: ReadonlyMap<string, ReadonlyMap<string, number>>;
  };
}

/** Registers the metrics. The result updates their values. */
export const replicaMetrics = (registry: Registry, replica: ReplicaGauges | undefined): (() => void) => {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const up = gauge(
    'svc_replica_up',
    '1 when this process reaches the replica, 0 otherwise or without a replica',
  );
  const seconds = gauge(
    'svc_replica_lag_seconds',
    'Age of the data of the replica, measured to one second; 0 without a replica',
  );
  const bytes = gauge('svc_replica_lag_bytes', 'Bytes of WAL that the replica has not replayed');
  const reads = new Counter({
    name: 'svc_replica_reads_total',
    help: 'Reads that the replica executed for this process: transactions for traces, pages for exports',
    labelNames: ['use'],
    registers,
  });
  const fallbacks = new Counter({
    name: 'svc_replica_fallbacks_total',
    help: 'Reads for traces and attempts of exports that used the primary instead of the replica',
    labelNames: ['use', 'reason'],
    registers,
  });
  return () => {
    const { is_reachable, lag_seconds, lag_bytes } = replica?.state ?? {
      is_reachable: false,
      lag_seconds: 0,
      lag_bytes: 0,
    };
    up.set(is_reachable ? 1 : 0);
    seconds.set(lag_seconds);
    bytes.set(lag_bytes);
    reads.reset();
    fallbacks.reset();
    if (replica === undefined) return;
    for (const [use, count] of replica.tally.reads) reads.inc({ use }, count);
    for (const [use, counts] of replica.tally.fallbacks)
      for (const [reason, count] of counts) fallbacks.inc({ use, reason }, count);
  };
};
