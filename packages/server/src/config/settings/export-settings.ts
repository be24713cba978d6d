// Settings of exports. Where documentation of compatible services gives two numbers for one limit, the default is the larger one:
// a limit is an upper bound, and the slots of the workers decide what a machine executes at once.
import { setting } from './setting-definition.ts';
import { boolean, duration, integer, pathList } from './setting-type.ts';

const day = 86_400_000;

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
