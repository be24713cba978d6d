// All settings. Validation, `svc --help`, `svc config` and the table in docs/configuration.md are derived from this list.
import { urlPath } from './url-path.ts';
import {
  boolean,
  cidrList,
  databaseUri,
  duration,
  encryptionKey,
  givenSecret,
  hostList,
  hostName,
  integer,
  integerOrAuto,
  key,
  keyList,
  limit,
  oneOf,
  originList,
  path,
  pathList,
  setting,
  type SettingDefinition,
  size,
  text,
  uuid,
} from './setting-type.ts';

const second = 1_000;
const day = 86_400 * second;

// Settings of exports. Where documentation of compatible services gives two numbers for one limit, the default is the larger one:
// a limit is an upper bound, and the slots of the workers decide what a machine executes at once.

const exportSettings = {
  exportSlots: setting({
    variable: 'SVC_EXPORT_SLOTS',
    type: integer({ min: 0, max: 64 }),
    default: ({ cores }) => String(Math.min(64, cores)),
    defaultDoc: 'cores',
    doc: 'Export runs that this server executes concurrently, each in its own process; 0 leaves them to other servers.',
  }),
  exportTimeout: setting({
    variable: 'SVC_EXPORT_TIMEOUT',
    type: duration({ minMs: 1, maxMs: 365 * day }),
    // Documented as 48 h too, and as 24 h formerly.
    default: '72h',
    doc: 'Longest duration of an export, without its time in the queue; then its status is TIMEDOUT.',
  }),
  exportRunsPerExport: setting({
    variable: 'SVC_EXPORT_RUNS_PER_EXPORT',
    type: integer({ min: 1, max: 10_000 }),
    // Documented as 5 too.
    default: '45',
    doc: 'Export runs of one export that are executed concurrently, on all nodes together.',
  }),
  exportsPerWorkspace: setting({
    variable: 'SVC_EXPORTS_PER_WORKSPACE',
    type: integer({ min: 1, max: 10_000 }),
    // Documented as 3 too.
    default: '15',
    doc: 'Exports of one workspace that run concurrently; others wait.',
  }),
  exportAmbientCredentials: setting({
    variable: 'SVC_EXPORT_AMBIENT_CREDENTIALS',
    type: boolean(),
    // The administrator of a workspace may not be the operator of the server.
    default: 'false',
    doc: 'Allow destinations without credentials; they use those of the server, also to assume a role.',
  }),
  exportFileRoots: setting({
    variable: 'SVC_EXPORT_FILE_ROOTS',
    type: pathList(),
    default: undefined,
    defaultDoc: '`exports` in the data folder',
    doc: 'Folders, separated by commas, that may contain destinations of the type `file`.',
  }),
};

export const settingDefinitions = {
  host: setting({
    variable: 'SVC_HOST',
    aliases: [{ name: 'LANGGRAPH_SERVER_HOST' }],
    flag: { name: '--host', placeholder: '<address>' },
    type: hostName(),
    default: '127.0.0.1',
    doc: 'Address to listen on; 0.0.0.0 opens the server to the network, which needs authentication.',
  }),
  port: setting({
    variable: 'SVC_PORT',
    aliases: [{ name: 'PORT' }],
    flag: { name: '--port', placeholder: '<number>', short: '-p' },
    type: integer({ min: 0, max: 65_535 }),
    default: '2024',
    doc: 'Port to listen on; 0 chooses a free one.',
  }),
  apiKeys: setting({
    variable: 'SVC_API_KEY',
    type: keyList(),
    default: undefined,
    defaultDoc: 'none',
    doc: 'Comma-separated keys of the deployment API, of 32 characters or more. Requests to it must send one as `x-api-key`.',
  }),
  allowAnonymous: setting({
    variable: 'SVC_ALLOW_ANONYMOUS',
    flag: { name: '--allow-anonymous' },
    type: boolean(),
    default: 'false',
    doc: 'Serve anyone who can reach the server, on any address, without authentication.',
  }),
  console: setting({
    variable: 'SVC_CONSOLE',
    type: oneOf(['on', 'off']),
    default: 'on',
    doc: 'Serve the [console](console.md#where-it-is-served) under `/console`.',
  }),
  consoleIdle: setting({
    variable: 'SVC_CONSOLE_IDLE',
    type: duration({ minMs: 60 * second, maxMs: 7 * day }),
    default: '12h',
    doc: 'How long a [session of the console](console.md#signing-in) lives after its last request.',
  }),
  consoleViewer: setting({
    variable: 'SVC_CONSOLE_VIEWER',
    type: oneOf(['on', 'off']),
    default: 'on',
    doc: 'Show [traces in the console](console.md#traces) without an API key, where only this machine can reach the server. Off behind a proxy (`SVC_TRUSTED_PROXIES`).',
  }),
  mountPrefix: setting({
    variable: 'SVC_MOUNT_PREFIX',
    aliases: [{ name: 'MOUNT_PREFIX' }],
    type: path(urlPath),
    default: undefined,
    defaultDoc: 'that of `http.mount_prefix`',
    doc: 'Path before all routes, such as `/agents`.',
  }),
  corsOrigins: setting({
    variable: 'SVC_CORS_ORIGINS',
    aliases: [{ name: 'CORS_ALLOW_ORIGINS' }],
    type: originList(),
    default: undefined,
    defaultDoc: 'those of `http.cors`',
    doc: 'Origins of web pages that may use the server: `https://app.example.com,http://localhost:3000`.',
  }),
  trustedProxies: setting({
    variable: 'SVC_TRUSTED_PROXIES',
    type: cidrList(),
    default: undefined,
    defaultDoc: 'none',
    doc: 'Networks of proxies: `10.0.0.0/8,192.168.1.7`. Their `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.',
  }),
  rateLimit: setting({
    variable: 'SVC_RATE_LIMIT',
    type: limit({ min: 1, max: 1_000_000 }),
    default: '100',
    doc: 'Requests per second of one caller at one server process, with bursts of ten times as many.',
  }),
  streamsPerCaller: setting({
    variable: 'SVC_STREAMS_PER_CALLER',
    type: limit({ min: 1, max: 1_000_000 }),
    default: '50',
    doc: 'Open streams and waiting requests of one caller at one server process.',
  }),
  dataDir: setting({
    variable: 'SVC_DATA_DIR',
    flag: { name: '--data-dir', placeholder: '<dir>' },
    type: text('path'),
    default: '.svc',
    defaultDoc: '`.svc` beside the config file',
    doc: 'Where the embedded PostgreSQL keeps its data.',
  }),
  databaseUri: setting({
    variable: 'SVC_DATABASE_URI',
    aliases: [{ name: 'DATABASE_URI' }, { name: 'DATABASE_URL' }, { name: 'POSTGRES_URI' }],
    type: databaseUri(),
    default: undefined,
    defaultDoc: 'none: an embedded PostgreSQL',
    doc: '[Your own PostgreSQL](database.md#your-own-postgresql), 15 or newer.',
  }),
  databaseListenUri: setting({
    variable: 'SVC_DATABASE_LISTEN_URI',
    type: databaseUri(),
    default: undefined,
    defaultDoc: 'none: `SVC_DATABASE_URI` leads to PostgreSQL itself',
    doc: 'A direct connection, when `SVC_DATABASE_URI` leads to a [pooler in transaction mode](database.md#connection-poolers).',
  }),
  databaseReplicaUri: setting({
    variable: 'SVC_DATABASE_REPLICA_URI',
    type: databaseUri(),
    default: undefined,
    defaultDoc: 'none: everything is read from the primary',
    doc: 'A hot standby, from which traces and the rows of exports [are read](database.md#read-replica).',
  }),
  databaseReplicaLagMax: setting({
    variable: 'SVC_DATABASE_REPLICA_LAG_MAX',
    type: duration({ minMs: 2 * second, maxMs: 3_600 * second }),
    default: '5s',
    doc: 'How old the data of a replica may be when traces are read from it.',
  }),
  poolMax: setting({
    variable: 'SVC_POOL_MAX',
    aliases: [{ name: 'LANGGRAPH_POSTGRES_POOL_MAX_SIZE' }],
    type: integer({ min: 2, max: 1_000 }),
    default: '10',
    doc: 'Most connections to PostgreSQL of the server process, and of each executor; fewer if the database [allows fewer](database.md#connections).',
  }),
  role: setting({
    variable: 'SVC_ROLE',
    flag: { name: '--role', placeholder: '<role>' },
    type: oneOf(['all', 'api', 'worker']),
    default: 'all',
    doc: 'The work of this process: api serves requests, worker executes runs, all does both.',
  }),
  executors: setting({
    variable: 'SVC_EXECUTORS',
    flag: { name: '--executors', placeholder: '<number>' },
    type: integer({ min: 1, max: 256 }),
    default: ({ cores }) => String(Math.min(256, Math.max(1, cores - 1))),
    defaultDoc: 'cores - 1, at least 1',
    doc: 'Number of processes that execute graphs.',
  }),
  jobsPerWorker: setting({
    variable: 'SVC_N_JOBS_PER_WORKER',
    aliases: [{ name: 'N_JOBS_PER_WORKER' }],
    flag: { name: '--n-jobs-per-worker', placeholder: '<number>', short: '-n' },
    type: integerOrAuto({ min: 1, max: 1_000 }),
    default: 'auto',
    doc: 'Runs that one executor executes concurrently; `auto`: up to 500, and few while it is busy.',
  }),
  bodyLimit: setting({
    variable: 'SVC_BODY_LIMIT',
    aliases: [{ name: 'HTTP_MAX_REQUEST_BODY_BYTES', unit: 'b' }],
    type: size({ minBytes: 1_024, maxBytes: 1_024 ** 3 }),
    default: '20mb',
    doc: 'Largest request body; a larger one gets 413.',
  }),
  lease: setting({
    variable: 'SVC_LEASE',
    aliases: [{ name: 'BG_JOB_HEARTBEAT', unit: 's' }],
    type: duration({ minMs: 100, maxMs: 3_600 * second }),
    default: '30s',
    doc: 'When a lease is not renewed for this time, another worker takes over the run.',
  }),
  shutdownGrace: setting({
    variable: 'SVC_SHUTDOWN_GRACE',
    aliases: [{ name: 'BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS', unit: 's' }],
    type: duration({ minMs: 0, maxMs: day }),
    default: '180s',
    doc: 'How long a stopping server waits for its runs to end; in `svc dev`, how long responses stay open after a restart.',
  }),
  runTimeout: setting({
    variable: 'SVC_RUN_TIMEOUT',
    aliases: [{ name: 'BG_JOB_TIMEOUT_SECS', unit: 's' }],
    type: duration({ minMs: 1, maxMs: 30 * day }),
    default: '1h',
    doc: 'Longest duration of one attempt of a run.',
  }),
  streamTtl: setting({
    variable: 'SVC_STREAM_TTL',
    aliases: [{ name: 'RESUMABLE_STREAM_TTL_SECONDS', unit: 's' }],
    type: duration({ minMs: 1, maxMs: 30 * day }),
    default: '120s',
    doc: 'How long the events of a resumable run are kept after its end.',
  }),
  tracing: setting({
    variable: 'SVC_TRACING',
    flag: { name: '--tracing', placeholder: '<on|off>' },
    type: oneOf(['on', 'off']),
    default: ({ develops }) => (develops ? 'on' : 'off'),
    defaultDoc: 'on in `svc dev`, else off',
    doc: 'Record traces of the runs of this server in the workspace `default`: [traces](traces.md).',
  }),
  tracingProject: setting({
    variable: 'SVC_TRACING_PROJECT',
    type: text('name'),
    default: 'default',
    doc: 'The project of the traces of this server.',
  }),
  traceRetention: setting({
    variable: 'SVC_TRACE_RETENTION',
    type: duration({ minMs: day, maxMs: 3_650 * day }),
    default: '400d',
    doc: 'How long traces are kept, in whole days.',
  }),
  bootstrapApiKey: setting({
    variable: 'SVC_BOOTSTRAP_API_KEY',
    type: key(),
    default: undefined,
    defaultDoc: 'none: created at the first start',
    doc: 'An API key of the platform with the role admin, 32 characters or more. A change revokes the previous key.',
  }),
  bootstrapWorkspaceId: setting({
    variable: 'SVC_BOOTSTRAP_WORKSPACE_ID',
    type: uuid(),
    default: undefined,
    defaultDoc: 'random',
    doc: 'The id of the workspace of the first key.',
  }),
  ...exportSettings,
  webhookSecret: setting({
    variable: 'SVC_WEBHOOK_SECRET',
    type: key(),
    default: undefined,
    defaultDoc: 'none: webhooks are not signed',
    doc: 'Key that signs webhooks, 32 characters or more.',
  }),
  egressAllow: setting({
    variable: 'SVC_EGRESS_ALLOW',
    type: hostList(),
    default: undefined,
    defaultDoc: 'none',
    doc: 'Hosts (`minio.local:9000,10.0.0.7`) that the server may call although they are private or use an unusual port.',
  }),
  studioKey: setting({
    variable: 'SVC_STUDIO_KEY',
    type: key(),
    default: undefined,
    defaultDoc: 'none: there is no Studio user',
    doc: 'Key that authenticates the Studio user in addition to custom authentication, 32 characters or more.',
  }),
  consoleOidcSecret: setting({
    variable: 'SVC_CONSOLE_OIDC_SECRET',
    type: givenSecret(),
    default: undefined,
    defaultDoc: 'none: a public client',
    doc: 'The client secret of the console at the provider of [`console.auth`](console.md#signing-in-at-a-provider).',
  }),
  encryptionKey: setting({
    variable: 'SVC_ENCRYPTION_KEY',
    type: encryptionKey(),
    default: undefined,
    defaultDoc: 'created in the data folder',
    doc: 'Encrypts secrets in the database: 32 bytes as base64 or hex. Nodes that share a database need the same key.',
  }),
  logLevel: setting({
    variable: 'SVC_LOG_LEVEL',
    aliases: [{ name: 'LOG_LEVEL' }],
    flag: { name: '--log-level', placeholder: '<level>' },
    type: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      warning: 'warn',
      critical: 'fatal',
    }),
    default: 'info',
    doc: 'The lowest level that is logged.',
  }),
  logFormat: setting({
    variable: 'SVC_LOG_FORMAT',
    flag: { name: '--log-format', placeholder: '<format>' },
    type: oneOf(['pretty', 'json']),
    default: ({ terminal }) => (terminal ? 'pretty' : 'json'),
    defaultDoc: 'pretty on a terminal, else json',
    doc: 'Format of the log, which goes to standard error.',
  }),
};

export type SettingKey = keyof typeof settingDefinitions;

export const settingKeys = Object.keys(settingDefinitions) as SettingKey[];

export type SettingValue<K extends SettingKey> =
  (typeof settingDefinitions)[K] extends SettingDefinition<infer T> ? T : never;
