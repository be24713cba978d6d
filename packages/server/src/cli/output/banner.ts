import type { Config } from '../../config/config.ts';
import { type AccessMode, exposureOf, servesConsole } from '../../config/settings/exposure.ts';
import { withoutPassword } from '../../config/settings/secret.ts';
import { packageVersion } from '../../config/package-files.ts';

export interface Served {
  url: string;
  graphs: readonly string[];
  /** The first key of the platform API, when this start created it. */
  firstKey?: { key: string; workspace_id: string; file: string } | undefined;
}

/** The addresses and the configuration of a server that has started, and an example request. */
export function banner(
  { url, graphs, firstKey }: Served,
  { settings, project }: Config,
  { isTerminal }: { isTerminal: boolean },
): string {
  const { role, storage, runs } = settings;
  const { mode } = exposureOf(settings, project);
  const base = reachable(url);
  const database =
    storage.databaseUri === undefined
      ? `embedded PostgreSQL in ${storage.dataDir}`
      : withoutPassword(storage.databaseUri.reveal());
  const rows = [
    ['API', base],
    ['Traces', `${base}/api/v1`],
    ['Docs', `${base}/docs`],
    ...(servesConsole(mode, settings) ? ([['Console', `${base}/console`]] as const) : []),
    ['Access', access(mode)],
    ['Database', database],
    ['Graphs', graphs.join(', ')],
    [
      'Executors',
      role === 'api' ? 'none here: runs need a worker' : `${runs.executors}, ${runsEach(runs.jobsPerWorker)}`,
    ],
  ] as const;
  if (role === 'worker') return worker(base, rows.slice(3));
  return [
    `svc ${packageVersion()}`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(11)}${value}`),
    '',
    ...(firstKey === undefined ? [] : [...firstKeyLines(firstKey, isTerminal), '']),
    'Try it, with an input that the graph expects:',
    '',
    `  ${exampleRequest(base, graphs[0] ?? 'agent', credentials(mode, project))}`,
    '',
  ].join('\n');
}

/** The key is printed to terminals only: other output may be kept in logs. */
function firstKeyLines(
  { key, workspace_id, file }: NonNullable<Served['firstKey']>,
  isTerminal: boolean,
): string[] {
  return isTerminal
    ? [
        'The first API key, for traces and the platform API. It is shown this once:',
        '',
        `  ${key}`,
        `  (workspace ${workspace_id}; also in ${file})`,
      ]
    : [`The first API key, for traces and the platform API (workspace ${workspace_id}), is in ${file}.`];
}

function worker(base: string, rows: readonly (readonly [string, string])[]): string {
  const shown = [['Health', `${base}/ready`] as const, ...rows];
  return [
    `svc ${packageVersion()}, worker`,
    '',
    ...shown.map(([name, value]) => `  ${name.padEnd(11)}${value}`),
    '',
  ].join('\n');
}

function access(mode: AccessMode): string {
  switch (mode.kind) {
    case 'custom':
      return 'as "auth" in svc.json decides';
    case 'keys':
      return `whoever has ${mode.keys.length === 1 ? 'the API key' : `one of ${mode.keys.length} API keys`}`;
    case 'anonymous':
      return mode.local ? 'anyone on this machine' : 'anyone who can reach it';
  }
}

function credentials({ kind }: AccessMode, { raw }: Config['project']): string {
  const auth = raw.console?.auth;
  const header = auth?.kind === 'header' ? auth.name : 'authorization';
  return { keys: ` -H 'x-api-key: …'`, custom: ` -H '${header}: …'`, anonymous: '' }[kind];
}

function exampleRequest(base: string, graph: string, headers: string): string {
  const body = { assistant_id: graph, input: { messages: [{ role: 'user', content: 'hello' }] } };
  return `curl -s ${base}/runs/wait${headers} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}

/** Replaces an address that means all interfaces: requests cannot be sent to it. */
function reachable(url: string): string {
  return url.replace(/\/$/, '').replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost');
}

const runsEach = (jobs: number | 'auto'): string =>
  jobs === 'auto' ? 'runs each by load' : `${jobs} runs each`;
