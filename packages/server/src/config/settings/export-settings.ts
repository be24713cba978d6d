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
    doc: 'Export runs that this process executes at once, each in a process of its own; 0 leaves them to others.',
  }),
  exportTimeout: setting({
    variable: 'SVC_EXPORT_TIMEOUT',
    type: duration({ minMs: 1, maxMs: 365 * day }),
    // Documented as 48 h too, and as 24 h formerly.
    default: '72h',
    doc: 'How long an export may take from its start, the time in the queue not counted; then it is TIMEDOUT.',
  }),
  exportRunTimeout: setting({
    variable: 'SVC_EXPORT_RUN_TIMEOUT',
    type: duration({ minMs: 1, maxMs: 365 * day }),
    default: '4h',
    doc: 'How long one attempt of an export run may take, the start of its process not counted; then it is tried again, from where it was.',
  }),
  exportRetries: setting({
    variable: 'SVC_EXPORT_RETRIES',
    type: integer({ min: 0, max: 1_000 }),
    // Documented as 10 formerly.
    default: '20',
    doc: 'Attempts of an export run after its first.',
  }),
  exportRetryDelay: setting({
    variable: 'SVC_EXPORT_RETRY_DELAY',
    type: duration({ minMs: 0, maxMs: day }),
    default: '30s',
    doc: 'The pause before each of them.',
  }),
  exportRunsPerExport: setting({
    variable: 'SVC_EXPORT_RUNS_PER_EXPORT',
    type: integer({ min: 1, max: 10_000 }),
    // Documented as 5 too.
    default: '45',
    doc: 'Export runs of one export that are executed at once, on all nodes.',
  }),
  exportsPerWorkspace: setting({
    variable: 'SVC_EXPORTS_PER_WORKSPACE',
    type: integer({ min: 1, max: 10_000 }),
    // Documented as 3 too.
    default: '15',
    doc: 'Exports of one workspace that run at once; others wait for them.',
  }),
  exportLease: setting({
    variable: 'SVC_EXPORT_LEASE',
    type: duration({ minMs: 100, maxMs: hour }),
    default: '60s',
    doc: 'How long an export run stays with a server that has stopped renewing its lease.',
  }),
  exportScheduleLag: setting({
    variable: 'SVC_EXPORT_SCHEDULE_LAG',
    type: duration({ minMs: 0, maxMs: 7 * day }),
    default: '10m',
    doc: 'How long after the end of its window a scheduled export is made, so that late traces are in it.',
  }),
  exportCompression: setting({
    variable: 'SVC_EXPORT_COMPRESSION',
    type: oneOf(['none', 'gzip', 'snappy', 'zstandard']),
    default: 'zstandard',
    doc: 'How exports are compressed that do not say it.',
  }),
  exportFileSize: setting({
    variable: 'SVC_EXPORT_FILE_SIZE',
    type: size({ minBytes: 1_024, maxBytes: 1_024 * mb }),
    default: '100mb',
    doc: 'How many bytes of rows, before they are compressed, go into one file; also what is done again after a crash.',
  }),
  exportAmbientCredentials: setting({
    variable: 'SVC_EXPORT_AMBIENT_CREDENTIALS',
    type: boolean(),
    // The administrator of a workspace may not be the operator of the server.
    default: 'false',
    doc: "Whether destinations may do without credentials of their own, and use the server's, also to assume a role.",
  }),
  exportFileRoots: setting({
    variable: 'SVC_EXPORT_FILE_ROOTS',
    type: pathList(),
    default: undefined,
    defaultDoc: '`exports` in the data folder',
    doc: 'Folders, with commas between, below which destinations of the type `file` may be.',
  }),
  exportFreeSpace: setting({
    variable: 'SVC_EXPORT_FREE_SPACE',
    type: size({ minBytes: 0, maxBytes: 1_024 ** 2 * gb }),
    default: '1gb',
    doc: 'How much exports leave free on the disks of folders and of temporary files: the database may be on the same one.',
  }),
  exportQuota: setting({
    variable: 'SVC_EXPORT_QUOTA',
    type: sizeOrNone({ minBytes: 0, maxBytes: 1_024 ** 2 * gb }),
    default: undefined,
    defaultDoc: '`20gb` in the data folder, `none` in `SVC_EXPORT_FILE_ROOTS`',
    doc: 'How much the files of all exports below one of those folders may take; `0b` allows none.',
  }),
};
