import { withoutPassword } from '../config/secret.ts';
import type { Settings } from '../config/settings.ts';
import { productVersion } from './version.ts';

export interface Served {
  url: string;
  graphs: readonly string[];
  /** Of the platform, when it was made just now. */
  firstKey?: { key: string; workspace_id: string; file: string } | undefined;
}

/** What a person needs to know of a server that has just started, and a request to try. */
export function banner({ url, graphs, firstKey }: Served, { role, storage, runs }: Settings): string {
  const base = reachable(url);
  const database =
    storage.databaseUri === undefined
      ? `embedded PostgreSQL in ${storage.dataDir}`
      : withoutPassword(storage.databaseUri.reveal());
  const rows = [
    ['API', base],
    ['Traces', `${base}/api/v1`],
    ['Docs', `${base}/docs`],
    ['Database', database],
    ['Graphs', graphs.join(', ')],
    [
      'Executors',
      role === 'api' ? 'none here: runs need a worker' : `${runs.executors}, ${runs.jobsPerWorker} runs each`,
    ],
  ] as const;
  if (role === 'worker') return worker(base, rows.slice(2));
  return [
    `svc ${productVersion()}`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(11)}${value}`),
    '',
    ...(firstKey === undefined
      ? []
      : [
          'The first API key, for traces and the platform API. It is shown this once:',
          '',
          `  ${firstKey.key}`,
          `  (workspace ${firstKey.workspace_id}; also in ${firstKey.file})`,
          '',
        ]),
    'Try it:',
    '',
    `  ${exampleRequest(base, graphs[0] ?? 'agent')}`,
    '',
  ].join('\n');
}

function worker(base: string, rows: readonly (readonly [string, string])[]): string {
  const shown = [['Health', `${base}/ready`] as const, ...rows];
  return [
    `svc ${productVersion()}, worker`,
    '',
    ...shown.map(([name, value]) => `  ${name.padEnd(11)}${value}`),
    '',
  ].join('\n');
}

function exampleRequest(base: string, graph: string): string {
  const body = { assistant_id: graph, input: { messages: [{ role: 'user', content: 'hello' }] } };
  return `curl -s ${base}/runs/wait -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}

/** An address that listens everywhere is no address to send a request to. */
function reachable(url: string): string {
  return url.replace(/\/$/, '').replace(/\/\/(0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost');
}
