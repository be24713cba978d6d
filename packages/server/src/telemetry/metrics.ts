// Metrics of this process for Prometheus. Gauges of the queue are read from the database at each scrape.
import { collectDefaultMetrics } from 'prom-client';
import { type ExportGauges, exportMetrics } from './export-metrics.ts';
import { Instruments } from './instruments.ts';

/** Values that are read at each scrape. */
export interface Gauges {
  queue(): Promise<{
    workers: number;
    slots: number;
    pending: number;
    running: number;
    oldest_pending_ms: number | null;
  }>;
  process(): {
    running: number;
    free_slots: number;
    leases_lost: ReadonlyMap<string, number>;
    leases_recovered: ReadonlyMap<string, number>;
    attempts_lost: ReadonlyMap<string, number>;
    runs_unstarted: number;
    executor_crashes: number;
    executor_kills: number;
    streams: number;
    pool_total: number;
    pool_idle: number;
    pool_waiting: number;
  };
}

/** Label values that are reported from the start, so that the first loss shows in a rate. */
const lossReasons = ['taken', 'database', 'late'];
const lossCauses = ['unstarted', 'executor_ended', 'executor_killed', 'lease', 'unstored'];
const workerStates = ['alive', 'silent', 'gone'];

/**
 * Default gauges whose names end as those of counters do. Each is the sum of a gauge that has labels and keeps its name:
 * `nodejs_active_handles`, for example.
 */
const misnamedGauges = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
];

export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** A histogram has the values `…_bucket` with the label `le`, `…_sum` and `…_count` for each combination of its labels. */
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly metricName?: string;
  }[];
}

export class Metrics {
  readonly #instruments = new Instruments();
  readonly #requests = this.#instruments.seconds(
    'svc_http_request_seconds',
    'Time until a response was complete',
    ['method', 'route', 'status'],
  );
  readonly #ingested = this.#instruments.counter(
    'svc_ingest_runs_total',
    'Trace runs that clients sent to this process',
    ['outcome'],
  );
  readonly #ingestedBytes = this.#instruments.counter(
    'svc_ingest_bytes_total',
    'Bytes of ingested traces, after decompression',
  );
  readonly #ingestSeconds = this.#instruments.seconds(
    'svc_ingest_batch_seconds',
    'Time until a batch of traces was stored',
  );
  readonly #ingestRefused = this.#instruments.counter(
    'svc_ingest_refused_total',
    'Batches of traces that were rejected with 429',
  );
  readonly #statementsRefused = this.#instruments.counter(
    'svc_ingest_refused_statements_total',
    'Statements with traces that the database refused; their items were then stored in parts',
  );
  readonly #runsEnded = this.#instruments.counter('svc_runs_ended_total', 'Runs that ended in this process', [
    'status',
  ]);
  readonly #runDeletionsRepeated = this.#instruments.counter(
    'svc_run_deletions_repeated_total',
    'Repeated tries to delete a run, because another run wrote to its thread',
  );
  readonly #runSeconds = this.#instruments.seconds(
    'svc_run_seconds',
    'Duration of the last attempt of runs that ended in this process',
    ['status'],
    [300, 1_800, 3_600],
  );
  readonly #flushTroubles = this.#instruments.counter(
    'svc_flush_troubles_total',
    'Flushes of checkpoints and events that executors of this process did not store with the first try: sent again, sent writer by writer, or failed for one writer',
    ['kind'],
  );
  readonly #backgroundWrites = this.#instruments.counter(
    'svc_background_write_failures_total',
    'Tries to store how a run or an export attempt has ended here that failed: repeated, or abandoned after ten minutes or when the process stops',
    ['result'],
  );
  readonly #eventLag = this.#instruments.seconds(
    'svc_event_lag_seconds',
    'Age of events of runs on other nodes when this process sends them',
  );
  #read: () => Promise<void> = () => Promise.resolve();

  /** `version`: the version of svc. */
  constructor(version: string) {
    const { registry } = this.#instruments;
    collectDefaultMetrics({ register: registry });
    for (const name of misnamedGauges) registry.removeSingleMetric(name);
    this.#instruments
      .gauge('svc_build_info', 'Versions of this process; always 1', ['version', 'node'])
      .set({ version, node: process.versions.node }, 1);
  }

  /** Adds these gauges. Call once. */
  watch(gauges: Gauges): void {
    const add = this.#instruments;
    const queue = {
      pending: add.gauge(
        'svc_queue_pending_runs',
        'Pending runs of all nodes; above 1,000 the value is up to ten seconds old',
      ),
      running: add.gauge('svc_queue_running_runs', 'Runs that execute on all nodes'),
      workers: add.gauge('svc_workers', 'Live workers that execute runs'),
      slots: add.gauge('svc_worker_slots', 'Runs that all workers can execute at once'),
    };
    const oldest = add.gauge(
      'svc_queue_oldest_pending_seconds',
      'Age of the oldest run that waits for nothing but a worker',
    );
    const local = {
      running: add.gauge('svc_running_runs', 'Runs that execute in this process'),
      free_slots: add.gauge('svc_free_slots', 'Runs that this process could start now'),
      streams: add.gauge('svc_followed_runs', 'Runs that clients of this process wait for'),
      pool_total: add.gauge('svc_database_connections', 'Database connections of this process'),
      pool_idle: add.gauge('svc_database_connections_idle', 'Idle database connections of this process'),
      pool_waiting: add.gauge('svc_database_waiting', 'Queries that wait for a database connection'),
    };
    const setLost = add.totals(
      'svc_leases_lost_total',
      'Leases of this process that were lost: taken by another worker, not renewed because of the database, or renewed too late',
      'reason',
      lossReasons,
    );
    const setRecovered = add.totals(
      'svc_leases_recovered_total',
      'Expired leases of other workers that this process found, by the state of the worker',
      'worker',
      workerStates,
    );
    const setAttemptsLost = add.totals(
      'svc_attempts_lost_total',
      'Attempts of runs that this process has lost and released, charged or not, by cause',
      'cause',
      lossCauses,
    );
    const setUnstarted = add.total(
      'svc_runs_unstarted_total',
      'Runs that this process claimed and gave back before they started: the claim was answered too late, or the start failed',
    );
    const setCrashes = add.total(
      'svc_executor_exits_total',
      'Executors of this process that ended by themselves',
    );
    const setKills = add.total(
      'svc_executor_kills_total',
      'Executors that this process killed: a graph ignored the abort signal, a lease was lost, or a request was not answered',
    );
    this.#read = async () => {
      const here = gauges.process();
      for (const [name, one] of Object.entries(local)) one.set(here[name as keyof typeof local]);
      setLost(here.leases_lost);
      setRecovered(here.leases_recovered);
      setAttemptsLost(here.attempts_lost);
      setUnstarted(here.runs_unstarted);
      setCrashes(here.executor_crashes);
      setKills(here.executor_kills);
      const now = await gauges.queue();
      for (const [name, one] of Object.entries(queue)) one.set(now[name as keyof typeof queue]);
      oldest.set((now.oldest_pending_ms ?? 0) / 1000);
    };
  }

  /** Adds the metrics of exports. Call once. */
  watchExports(gauges: ExportGauges): void {
    this.#add(exportMetrics(this.#instruments, gauges));
  }

  /** Adds the metrics of the replica; without one they stay 0. Call once. */
  watchReplica(replica: ReplicaGauges | undefined): void {
    this.#add(replicaMetrics(this.#instruments, replica));
  }

  /** Adds the metric of the log that is sent; while none is sent it stays 0. Call once. */
  watchLogExport(lost: LostLines): void {
    const setLost = this.#instruments.totals(
      'svc_log_records_lost_total',
      'Lines of the log that were not sent by OTLP: too many waited, or the receiver did not accept them',
      'reason',
    );
    this.#add(() => setLost(new Map(Object.entries(lost() ?? { dropped: 0, failed: 0 }))));
  }

  #add(read: () => void | Promise<void>): void {
    const before = this.#read;
    this.#read = async () => {
      await before();
      await read();
    };
  }

  request(method: string, route: string, status: number, ms: number): void {
    this.#requests.observe({ method, route, status: String(status) }, ms / 1000);
  }

  batchTaken(batch: { runs: number; rejected: number; bytes: number; ms: number }): void {
    this.#ingested.inc({ outcome: 'accepted' }, batch.runs);
    this.#ingested.inc({ outcome: 'rejected' }, batch.rejected);
    this.#ingestedBytes.inc(batch.bytes);
    this.#ingestSeconds.observe(batch.ms / 1000);
  }

  batchRefused(): void {
    this.#ingestRefused.inc();
  }

  statementsRefused(count: number): void {
    this.#statementsRefused.inc(count);
  }

  runEnded(status: string, ms: number): void {
    this.#runsEnded.inc({ status });
    this.#runSeconds.observe({ status }, ms / 1000);
  }

  runDeletionRepeated(): void {
    this.#runDeletionsRepeated.inc();
  }

  /** An executor did not store a flush with the first try. */
  flushTrouble(kind: 'repeated' | 'split' | 'failed'): void {
    this.#flushTroubles.inc({ kind });
  }

  /** A write that no caller awaits has failed. */
  backgroundWriteFailed(result: 'repeated' | 'abandoned'): void {
    this.#backgroundWrites.inc({ result });
  }

  eventLag(ms: number): void {
    this.#eventLag.observe(Math.max(0, ms) / 1000);
  }

  /** All metrics, as values. */
  async snapshot(): Promise<MetricSnapshot[]> {
    await this.#read();
    // The declared type of `type` is an enum of numbers, but the values are these texts.
    return (await this.#instruments.registry.getMetricsAsJSON()) as unknown as MetricSnapshot[];
  }

  /** All metrics, in the text format of Prometheus. */
  async text(): Promise<string> {
    await this.#read();
    return this.#instruments.registry.metrics();
  }
}

/** Lines of the log that were not sent, since the start. Undefined when the log is not sent. */
type LostLines = () => { dropped: number; failed: number } | undefined;

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
export const replicaMetrics = (add: Instruments, replica: ReplicaGauges | undefined): (() => void) => {
  const up = add.gauge(
    'svc_replica_up',
    '1 when this process reaches the replica, 0 otherwise or without a replica',
  );
  const seconds = add.gauge(
    'svc_replica_lag_seconds',
    'Age of the data of the replica, measured to one second; 0 without a replica',
  );
  const bytes = add.gauge('svc_replica_lag_bytes', 'Bytes of WAL that the replica has not replayed');
  const setReads = add.totals(
    'svc_replica_reads_total',
    'Reads that the replica executed for this process: transactions for traces, pages for exports',
    'use',
  );
  const fallbacks = add.counter(
    'svc_replica_fallbacks_total',
    'Reads for traces and attempts of exports that used the primary instead of the replica',
    ['use', 'reason'],
  );
  return () => {
    const { state, tally } = replica ?? {};
    up.set(state?.is_reachable ? 1 : 0);
    seconds.set(state?.lag_seconds ?? 0);
    bytes.set(state?.lag_bytes ?? 0);
    setReads(tally?.reads ?? new Map());
    fallbacks.reset();
    for (const [use, counts] of tally?.fallbacks ?? [])
      for (const [reason, count] of counts) fallbacks.inc({ use, reason }, count);
  };
};
