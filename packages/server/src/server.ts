// STUB: the seam between the CLI and the server; to be replaced by the real composition.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from './config/settings.ts';
import type { SvcJson } from './config/svc-json.ts';
import type { Logger } from './telemetry/logger.ts';

export interface RunningServer extends AsyncDisposable {
  url: string;
  graphs: string[];
}

export interface ServerOptions {
  settings: Settings;
  project: SvcJson;
  logger: Logger;
}

export async function startServer({ settings, project }: ServerOptions): Promise<RunningServer> {
  const graphs = [...project.graphs.keys()];
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ ok: true, graphs }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.http.port, settings.http.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${settings.http.host}:${port}`,
    graphs,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The names of the migrations that were applied. */
export async function migrateDatabase(_settings: Settings): Promise<string[]> {
  return [];
}
