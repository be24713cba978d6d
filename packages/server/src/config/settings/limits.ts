// Limits that are no settings: nobody who runs a server knows better values. They are one object, so that tests can pass others.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const mb = 1_024 ** 2;
const gb = 1_024 * mb;

/** Durations are in milliseconds, sizes in bytes. */
export interface Limits {
  /** Lifetime of a session of the console. */
  readonly consoleSessionMs: number;
  /** Open streams and waiting requests at one server process. */
  readonly streamsMax: number;
  /** Interval of heartbeats in a stream without events. */
  readonly heartbeatMs: number;
  /** JSON values, spans, events and attributes of a batch of traces. */
  readonly ingestValuesMax: number;
  /** Keys of JSON objects of a batch of traces. */
  readonly ingestKeysMax: number;
  /** A batch of traces after decompression. */
  readonly ingestBytesMax: number;
  /** Memory of one server process for large request bodies and responses, including copies. */
  readonly requestMemoryBytes: number;
  /** A page of a list. A single object may be four times as large. */
  readonly answerBytesMax: number;
  /** Runs that one executor executes concurrently when `SVC_N_JOBS_PER_WORKER` is `auto`. */
  readonly jobsMax: number;
  /** How long a graph may take to react to the cancellation of its run. */
  readonly cancelGraceMs: number;
  /** A query of traces. */
  readonly traceQueryMs: number;
  /** A call of an auth handler. */
  readonly authTimeoutMs: number;
  /** How long an attempt of an export waits until the replica has all of its rows. */
  readonly replicaExportWaitMs: number;
  /** One attempt of an export partition run. */
  readonly exportRunTimeoutMs: number;
  /** Retries of an export partition run after its first attempt. */
  readonly exportRetries: number;
  readonly exportRetryDelayMs: number;
  readonly exportLeaseMs: number;
  /** Time between the end of a window and its scheduled export. */
  readonly exportScheduleLagMs: number;
  /** For exports that do not choose one. */
  readonly exportCompression: 'none' | 'gzip' | 'snappy' | 'zstandard';
  /** Bytes of rows in one file, before compression. */
  readonly exportFileBytes: number;
  /** Space that exports leave free on a disk. */
  readonly exportFreeBytes: number;
  /** All export files in the data folder. */
  readonly dataFolderQuotaBytes: number;
  /** All export files below one of `SVC_EXPORT_FILE_ROOTS`. */
  readonly fileRootQuotaBytes: number;
  /** Interval between two batches of spans. */
  readonly spanDelayMs: number;
  /** Interval between two exports of the metrics. */
  readonly metricIntervalMs: number;
  /** Interval between two batches of log records. */
  readonly logDelayMs: number;
}

export const standardLimits: Limits = Object.freeze({
  // A stolen cookie is valid for at most a week. `SVC_CONSOLE_IDLE` ends sessions that are not used.
  consoleSessionMs: 7 * 24 * hour,
  // Idle, they take less memory than one executor.
  streamsMax: 10_000,
  // Shorter than the read timeouts of proxies.
  heartbeatMs: 5 * second,
  // The largest SDKs send some ten thousand values in a batch; a million empty objects take 60 MB in memory.
  ingestValuesMax: 1_000_000,
  ingestKeysMax: 500_000,
  // Clients of compatible services send at most 20 MB.
  ingestBytesMax: 40 * mb,
  // Beyond it large requests wait for each other, so a small server survives many of them.
  requestMemoryBytes: 64 * mb,
  // Small enough for four pages at a time in `requestMemoryBytes`.
  answerBytesMax: 16 * mb,
  // Runs mostly wait for models. An executor that computes takes fewer, because it reports that its event loop is late.
  jobsMax: 500,
  // Nodes that check the abort signal end in this time. When a node does not, its executor is killed, with all its runs.
  cancelGraceMs: 10 * second,
  // Shorter than the timeouts of clients and proxies. The response has a cursor to continue.
  traceQueryMs: 10 * second,
  // Each request waits for it. A handler that calls a slow service should cache.
  authTimeoutMs: 5 * second,
  // A replica that lags longer is broken, and the primary has the rows.
  replicaExportWaitMs: minute,
  // A longer attempt is stuck. The next one continues after its last file.
  exportRunTimeoutMs: 4 * hour,
  // With the pauses, the retries survive an outage of the bucket of ten minutes.
  exportRetries: 20,
  exportRetryDelayMs: 30 * second,
  // Twice the lease of a run: nobody waits for the exact end of an export.
  exportLeaseMs: minute,
  // Clients send traces in batches and repeat failed requests for some minutes.
  exportScheduleLagMs: 10 * minute,
  // The smallest files at little CPU. All readers of Parquet support it.
  exportCompression: 'zstandard',
  // Also the work that is repeated after a crash, and the space that each exporter needs on the local disk.
  exportFileBytes: 100 * mb,
  // The database may be on the same disk.
  exportFreeBytes: gb,
  // The database is on the same disk. Other folders are chosen for exports.
  dataFolderQuotaBytes: 20 * gb,
  fileRootQuotaBytes: Infinity,
  // The defaults of OpenTelemetry.
  spanDelayMs: 5 * second,
  metricIntervalMs: minute,
  logDelayMs: second,
});
