// Limits that are no settings: nobody who runs a server knows better values. They are one object, so that tests can pass others.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const mb = 1_024 ** 2;
const gb = 1_024 * mb;

/** Durations are in milliseconds, sizes in bytes. */
const limits = {
  /** Lifetime of a session of the console. */
  // A stolen cookie is valid for at most a week. `SVC_CONSOLE_IDLE` ends sessions that are not used.
  consoleSessionMs: 7 * 24 * hour,
  /** Open streams and waiting requests at one server process. Idle, they take less memory than one executor. */
  streamsMax: 10_000,
  /** Interval of heartbeats in a stream without events. Shorter than the read timeouts of proxies. */
  heartbeatMs: 5 * second,
  /** JSON values, spans, events and attributes of a batch of traces. */
  // The largest SDKs send some ten thousand values in a batch; a million empty objects take 60 MB in memory.
  ingestValuesMax: 1_000_000,
  /** Keys of JSON objects of a batch of traces. */
  ingestKeysMax: 500_000,
  /** A batch of traces after decompression. Clients of compatible services send at most 20 MB. */
  ingestBytesMax: 40 * mb,
  /** Memory of one server process for large request bodies and responses, including copies. */
  // Beyond it large requests wait for each other, so a small server survives many of them.
  requestMemoryBytes: 64 * mb,
  /** A page of a list. A single object may be four times as large. Small enough for four pages at a time in `requestMemoryBytes`. */
  answerBytesMax: 16 * mb,
  /** Runs that one executor executes concurrently when `SVC_N_JOBS_PER_WORKER` is `auto`. */
  // Runs mostly wait for models. An executor that computes takes fewer, because it reports that its event loop is late.
  jobsMax: 500,
  /** How long a graph may take to react to the cancellation of its run. */
  // Nodes that check the abort signal end in this time. When a node does not, its executor is killed, with all its runs.
  cancelGraceMs: 10 * second,
  /** A query of traces. Shorter than the timeouts of clients and proxies. The response has a cursor to continue. */
  traceQueryMs: 10 * second,
  /** A call of an auth handler. Each request waits for it. A handler that calls a slow service should cache. */
  authTimeoutMs: 5 * second,
  /** How long an attempt of an export waits until the replica has all of its rows. */
  // A replica that lags longer is broken, and the primary has the rows.
  replicaExportWaitMs: minute,
  /** One attempt of an export partition run. A longer attempt is stuck. The next one continues after its last file. */
  exportRunTimeoutMs: 4 * hour,
  /** Retries of an export partition run after its first attempt. */
  // With the pauses, the retries survive an outage of the bucket of ten minutes.
  exportRetries: 20,
  exportRetryDelayMs: 30 * second,
  // Twice the lease of a run: nobody waits for the exact end of an export.
  exportLeaseMs: minute,
  /** Time between the end of a window and its scheduled export. */
  // Clients send traces in batches and repeat failed requests for some minutes.
  exportScheduleLagMs: 10 * minute,
  /** For exports that do not choose one. The smallest files at little CPU. All readers of Parquet support it. */
  exportCompression: 'zstandard' as 'none' | 'gzip' | 'snappy' | 'zstandard',
  /** Bytes of rows in one file, before compression. */
  // Also the work that is repeated after a crash, and the space that each exporter needs on the local disk.
  exportFileBytes: 100 * mb,
  /** Space that exports leave free on a disk. The database may be on the same disk. */
  exportFreeBytes: gb,
  /** All export files in the data folder. The database is on the same disk. Other folders are chosen for exports. */
  dataFolderQuotaBytes: 20 * gb,
  /** All export files below one of `SVC_EXPORT_FILE_ROOTS`. */
  fileRootQuotaBytes: Infinity,
  /** Interval between two batches of spans. This one and the next two are the defaults of OpenTelemetry. */
  spanDelayMs: 5 * second,
  /** Interval between two exports of the metrics. */
  metricIntervalMs: minute,
  /** Interval between two batches of log records. */
  logDelayMs: second,
};

export type Limits = Readonly<typeof limits>;

export const standardLimits: Limits = Object.freeze(limits);
