// Settings of earlier releases. A start with one of them is refused, because its value would have no effect.
import type { Mistake } from '../project/mistake.ts';

/** By key, with what holds instead. */
const removed: Readonly<Record<string, string>> = {
  answerLimit: 'A page of a list has at most 16 MB.',
  authTimeout: 'An auth handler may take 5 seconds.',
  cancelGrace: 'A graph may take 10 seconds to react to the cancellation of its run.',
  consoleSession: 'A session of the console lives for 7 days in all; SVC_CONSOLE_IDLE can end it earlier.',
  databaseReplicaExportWait: 'An attempt of an export waits up to a minute for the replica.',
  exportCompression: 'The default is zstandard; name another one in "compression" when you create an export.',
  exportFileSize: 'A file has about 100 MB of rows, before compression.',
  exportFreeSpace: 'Exports leave 1 GB free.',
  exportLease: 'The lease of an export run has 60 seconds.',
  exportQuota:
    'Exports may use 20 GB in the data folder; name folders without this limit in SVC_EXPORT_FILE_ROOTS.',
  exportRetries: 'An export run is retried 20 times.',
  exportRetryDelay: 'The pause before a retry has 30 seconds.',
  exportRunTimeout: 'An attempt of an export run may take 4 hours.',
  exportScheduleLag: 'A scheduled export starts 10 minutes after the end of its window.',
  guide: '/docs has the API reference; npm run docs builds the documentation as a site.',
  heartbeat: 'Heartbeats are sent every 5 seconds.',
  ingestDepth: 'JSON in a batch of traces may have 512 levels.',
  ingestKeys: 'A batch of traces may have 500,000 JSON keys.',
  ingestLimit: 'A batch of traces may have 40 MB after decompression.',
  ingestValues: 'A batch of traces may have 1,000,000 JSON values.',
  jobsMax: 'The limit is 500; set SVC_N_JOBS_PER_WORKER for a fixed number.',
  jsonDepth: 'JSON in a request body may have 100 levels.',
  jsonKeys: 'A request body may have 50,000 JSON keys.',
  jsonValues: 'A request body may have 200,000 JSON values.',
  requestMemory: 'A server process uses up to 64 MB for large requests.',
  streamsMax:
    'A server process has up to 10,000 open streams; SVC_STREAMS_PER_CALLER limits those of a caller.',
  traceQueryTime: 'A query of traces takes up to 10 seconds.',
};

const variableOf = (key: string): string =>
  `SVC_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

const byVariable = new Map(Object.entries(removed).map(([key, now]) => [variableOf(key), now]));

const variableRemedy = (variable: string): string | undefined =>
  variable.startsWith('SVC_OTEL_')
    ? `Set ${variable.slice('SVC_'.length)} in the environment instead. For graphs, set variables in "env" of svc.json.`
    : byVariable.get(variable);

/** What holds instead of a removed key of `settings` in svc.json. */
const keyRemedy = (key: string): string | undefined => {
  if (/^ot(el|lp)[A-Z]/.test(key)) return 'Set the standard variables of OpenTelemetry in the environment.';
  return Object.hasOwn(removed, key) ? removed[key] : undefined;
};

const mistake = (where: string, remedy: string): Mistake => ({
  where,
  problem: 'was removed',
  remedy: `${remedy} Remove the setting.`,
});

interface Sources {
  env: Readonly<Record<string, string>>;
  /** The config file. */
  file?: {
    name: string;
    settings: Readonly<Record<string, unknown>>;
    env: Readonly<Record<string, string>>;
  };
}

export function removedSettings({ env, file }: Sources): Mistake[] {
  const variables = (of: Readonly<Record<string, string>>, place: string): Mistake[] =>
    Object.entries(of).flatMap(([name, value]) => {
      const remedy = value === '' ? undefined : variableRemedy(name);
      return remedy === undefined ? [] : [mistake(place + name, remedy)];
    });
  if (file === undefined) return variables(env, '');
  const keys = Object.keys(file.settings).flatMap((key) => {
    const remedy = keyRemedy(key);
    return remedy === undefined ? [] : [mistake(`${file.name} settings.${key}`, remedy)];
  });
  return [...variables(env, ''), ...variables(file.env, `${file.name} env `), ...keys];
}

export const isRemovedKey = (key: string): boolean => keyRemedy(key) !== undefined;
