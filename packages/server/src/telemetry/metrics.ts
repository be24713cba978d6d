// Metrics of this process for Prometheus. Gauges of the queue are read from the database at each scrape.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type ExportGauges, exportMetrics } from './export-metrics.ts';
import { type ReplicaGauges, replicaMetrics } from './replica-metrics.ts';

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

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

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

const backgroundWriteFailures = (registers: Registry[]): Counter<'result'> =>
  new Counter({
    name: 'svc_background_write_failures_total',
    help: 'Tries to store how a run or an export attempt has ended here that failed: repeated, or abandoned after ten minutes or when the process stops',
    labelNames: ['result'],
    registers,
  });

export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;
  readonly #runsEnded: Counter<'status'>;
  readonly #runDeletionsRepeated: Counter;
  readonly #runSeconds: Histogram<'status'>;
  readonly #eventLag: Histogram;
  readonly #flushTroubles: Counter<'kind'>;
  readonly #backgroundWrites: Counter<'result'>;
  readonly #ingested: Counter<'outcome'>;
  readonly #ingestedBytes: Counter;
  readonly #ingestSeconds: Histogram;
  readonly #ingestRefused: Counter;
  readonly #statementsRefused: Counter;
  #read: () => Promise<void> = () => Promise.resolve();

  /** `version`: the version of svc. */
  constructor(version: string) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    for (const name of misnamedGauges) this.#registry.removeSingleMetric(name);
    new Gauge({
      name: 'svc_build_info',
      help: 'Versions of this process; always 1',
      labelNames: ['version', 'node'],
      registers,
    }).set({ version, node: process.versions.node }, 1);
    this.#requests = new Histogram({
      name: 'svc_http_request_seconds',
      help: 'Time until a response was complete',
      labelNames: ['method', 'route', 'status'],
      buckets: secondsBuckets,
      registers,
    });
    this.#ingested = new Counter({
      name: 'svc_ingest_runs_total',
      help: 'Trace runs that clients sent to this process',
      labelNames: ['outcome'],
      registers,
    });
    this.#ingestedBytes = new Counter({
      name: 'svc_ingest_bytes_total',
      help: 'Bytes of ingested traces, after decompression',
      registers,
    });
    this.#ingestSeconds = new Histogram({
      name: 'svc_ingest_batch_seconds',
      help: 'Time until a batch of traces was stored',
      buckets: secondsBuckets,
      registers,
    });
    this.#ingestRefused = new Counter({
      name: 'svc_ingest_refused_total',
      help: 'Batches of traces that were rejected with 429',
      registers,
    });
    this.#statementsRefused = new Counter({
      name: 'svc_ingest_refused_statements_total',
      help: 'Statements with traces that the database refused; their items were then stored in parts',
      registers,
    });
    this.#runsEnded = new Counter({
      name: 'svc_runs_ended_total',
      help: 'Runs that ended in this process',
      labelNames: ['status'],
      registers,
    });
    this.#runDeletionsRepeated = new Counter({
      name: 'svc_run_deletions_repeated_total',
      help: 'Repeated tries to delete a run, because another run wrote to its thread',
      registers,
    });
    this.#runSeconds = new Histogram({
      name: 'svc_run_seconds',
      help: 'Duration of the last attempt of runs that ended in this process',
      labelNames: ['status'],
      buckets: [...secondsBuckets, 300, 1_800, 3_600],
      registers,
    });
    this.#flushTroubles = new Counter({
      name: 'svc_flush_troubles_total',
      help: 'Flushes of checkpoints and events that executors of this process did not store with the first try: sent again, sent writer by writer, or failed for one writer',
      labelNames: ['kind'],
      registers,
    });
    this.#backgroundWrites = backgroundWriteFailures(registers);
    this.#eventLag = new Histogram({
      name: 'svc_event_lag_seconds',
      help: 'Age of events of runs on other nodes when this process sends them',
      buckets: secondsBuckets,
      registers,
    });
  }

  /** Adds these gauges. Call once. */
  watch(gauges: Gauges): void {
    const registers = [this.#registry];
    const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
    const queue = {
      pending: gauge(
        'svc_queue_pending_runs',
        'Pending runs of all nodes; above 1,000 the value is up to ten seconds old',
      ),
      running: gauge('svc_queue_running_runs', 'Runs that execute on all nodes'),
      workers: gauge('svc_workers', 'Live workers that execute runs'),
      slots: gauge('svc_worker_slots', 'Runs that all workers can execute at once'),
    };
    const oldest = gauge(
      'svc_queue_oldest_pending_seconds',
      'Age of the oldest run that waits for nothing but a worker',
    );
    const local = {
      running: gauge('svc_running_runs', 'Runs that execute in this process'),
      free_slots: gauge('svc_free_slots', 'Runs that this process could start now'),
      streams: gauge('svc_followed_runs', 'Runs that clients of this process wait for'),
      pool_total: gauge('svc_database_connections', 'Database connections of this process'),
      pool_idle: gauge('svc_database_connections_idle', 'Idle database connections of this process'),
      pool_waiting: gauge('svc_database_waiting', 'Queries that wait for a database connection'),
    };
    const lost = new Counter({
      name: 'svc_leases_lost_total',
      help: 'Leases of this process that were lost: taken by another worker, not renewed because of the database, or renewed too late',
      labelNames: ['reason'],
      registers,
    });
    const recovered = new Counter({
      name: 'svc_leases_recovered_total',
      help: 'Expired leases of other workers that this process found, by the state of the worker',
      labelNames: ['worker'],
      registers,
    });
    const attemptsLost = new Counter({
      name: 'svc_attempts_lost_total',
      help: 'Attempts of runs that this process has lost and released, charged or not, by cause',
      labelNames: ['cause'],
      registers,
    });
    const unstarted = new Counter({
      name: 'svc_runs_unstarted_total',
      help: 'Runs that this process claimed and gave back before they started: the claim was answered too late, or the start failed',
      registers,
    });
    const crashes = new Counter({
      name: 'svc_executor_exits_total',
      help: 'Executors of this process that ended by themselves',
      registers,
    });
    const kills = new Counter({
      name: 'svc_executor_kills_total',
      help: 'Executors that this process killed: a graph ignored the abort signal, a lease was lost, or a request was not answered',
      registers,
    });
    this.#read = async () => {
      const here = gauges.process();
      for (const [name, one] of Object.entries(local)) one.set(here[name as keyof typeof local]);
      lost.reset();
      for (const reason of lossReasons) lost.inc({ reason }, here.leases_lost.get(reason) ?? 0);
      recovered.reset();
      for (const worker of workerStates) recovered.inc({ worker }, here.leases_recovered.get(worker) ?? 0);
      attemptsLost.reset();
      for (const cause of lossCauses) attemptsLost.inc({ cause }, here.attempts_lost.get(cause) ?? 0);
      set(unstarted, here.runs_unstarted);
      set(crashes, here.executor_crashes);
      set(kills, here.executor_kills);
      const now = await gauges.queue();
      for (const [name, one] of Object.entries(queue)) one.set(now[name as keyof typeof queue]);
      oldest.set((now.oldest_pending_ms ?? 0) / 1000);
    };
  }

  /** Adds the metrics of exports. Call once. */
  watchExports(gauges: ExportGauges): void {
    this.#add(exportMetrics(this.#registry, gauges));
  }

  /** Adds the metrics of the replica; without one they stay 0. Call once. */
  watchReplica(replica: ReplicaGauges | undefined): void {
    this.#add(replicaMetrics(this.#registry, replica));
  }

  /** Adds the metric of the log that is sent; while none is sent it stays 0. Call once. */
  watchLogExport(lost: LostLines): void {
    this.#add(logExportMetrics(this.#registry, lost));
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

  batchTaken({
    runs,
    rejected,
    bytes,
    ms,
  }: {
    runs: number;
    rejected: number;
    bytes: number;
    ms: number;
  }): void {
    this.#ingested.inc({ outcome: 'accepted' }, runs);
    this.#ingested.inc({ outcome: 'rejected' }, rejected);
    this.#ingestedBytes.inc(bytes);
    this.#ingestSeconds.observe(ms / 1000);
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
    return (await this.#registry.getMetricsAsJSON()) as unknown as MetricSnapshot[];
  }

  /** All metrics, in the text format of Prometheus. */
  async text(): Promise<string> {
    await this.#read();
    return this.#registry.metrics();
  }
}

const set = (counter: Counter, value: number): void => {
  counter.reset();
  counter.inc(value);
};

/** Lines of the log that were not sent, since the start. Undefined when the log is not sent. */
type LostLines = () => { dropped: number; failed: number } | undefined;

/** Registers the metric. The result updates its values. */
const logExportMetrics = (registry: Registry, lost: LostLines): (() => void) => {
  const counter = new Counter({
    name: 'svc_log_records_lost_total',
    help: 'Lines of the log that were not sent by OTLP: too many waited, or the receiver did not accept them',
    labelNames: ['reason'],
    registers: [registry],
  });
  return () => {
    const { dropped, failed } = lost() ?? { dropped: 0, failed: 0 };
    counter.reset();
    counter.inc({ reason: 'dropped' }, dropped);
    counter.inc({ reason: 'failed' }, failed);
  };
};
