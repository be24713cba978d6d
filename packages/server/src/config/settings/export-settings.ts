// Settings of exports. Where documentation of compatible services gives two numbers for one limit, the default is the larger one:
// a limit is an upper bound, and the slots of the workers decide what a machine executes at once.
import { setting } from './setting-definition.ts';
import { boolean, duration, integer, oneOf, pathList, size, sizeOrNone } from './setting-type.ts';

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const mb = 1_024 ** 2;
const gb = 1_024 * mb;

/** Quota of the folder for exports in the data folder. */
export const dataFolderQuotaBytes = 20 * gb;

export const exportSettings = {
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
  exportRunTimeout: setting({
    variable: 'SVC_EXPORT_RUN_TIMEOUT',
    type: duration({ minMs: 1, maxMs: 365 * day }),
    default: '4h',
    doc: 'Longest duration of one attempt of an export run, without the start of its process; the next attempt continues after the last file.',
  }),
  exportRetries: setting({
    variable: 'SVC_EXPORT_RETRIES',
    type: integer({ min: 0, max: 1_000 }),
    // Documented as 10 formerly.
    default: '20',
    doc: 'Retries of an export run after its first attempt.',
  }),
  exportRetryDelay: setting({
    variable: 'SVC_EXPORT_RETRY_DELAY',
    type: duration({ minMs: 0, maxMs: day }),
    default: '30s',
    doc: 'Pause before each retry of an export run.',
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
  exportLease: setting({
    variable: 'SVC_EXPORT_LEASE',
    type: duration({ minMs: 100, maxMs: hour }),
    default: '60s',
    doc: 'Duration of the lease of an export run. If it is not renewed, another server continues the export run.',
  }),
  exportScheduleLag: setting({
    variable: 'SVC_EXPORT_SCHEDULE_LAG',
    type: duration({ minMs: 0, maxMs: 7 * day }),
    default: '10m',
    doc: 'Delay between the end of a window and its scheduled export, so that late traces are included.',
  }),
  exportCompression: setting({
    variable: 'SVC_EXPORT_COMPRESSION',
    type: oneOf(['none', 'gzip', 'snappy', 'zstandard']),
    default: 'zstandard',
    doc: 'Compression of exports that do not choose one.',
  }),
  exportFileSize: setting({
    variable: 'SVC_EXPORT_FILE_SIZE',
    type: size({ minBytes: 1_024, maxBytes: 1_024 * mb }),
    default: '100mb',
    doc: 'Bytes of rows in one file, before compression; also the work that is repeated after a crash.',
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
  exportFreeSpace: setting({
    variable: 'SVC_EXPORT_FREE_SPACE',
    type: size({ minBytes: 0, maxBytes: 1_024 ** 2 * gb }),
    default: '1gb',
    doc: 'Space that exports leave free on the disks of destination folders and temporary files; the database may be on the same disk.',
  }),
  exportQuota: setting({
    variable: 'SVC_EXPORT_QUOTA',
    type: sizeOrNone({ minBytes: 0, maxBytes: 1_024 ** 2 * gb }),
    default: undefined,
    defaultDoc: '`20gb` in the data folder, `none` in `SVC_EXPORT_FILE_ROOTS`',
    doc: 'Largest size of all export files below one of these folders; `0b` allows none.',
  }),
};
