// A whole server for a test: a database of its own, a free port, real executors.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SettingKey } from '../src/config/settings/definitions.ts';
import { loadSvcJson } from '../src/config/project/svc-json.ts';
import type { Settings } from '../src/config/settings/settings.ts';
import { testSettings, type TestSettings } from './settings.ts';
import { startServer, type RunningServer } from '../src/app/server.ts';
import { createLogger, type Logger } from '../src/telemetry/logger.ts';
import { testDatabase, type TestDatabase } from './database.ts';
import { until } from './eventually.ts';

export interface TestServer extends AsyncDisposable {
  url: string;
  drain: RunningServer['drain'];
  database: TestDatabase;
  /** Sends JSON and returns the response. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: unknown; headers: Headers }>;
}

/** The graphs that tests run. */
export const testProject = fileURLToPath(new URL('./graphs/svc.json', import.meta.url));

/** Through the PgBouncer in transaction mode at SVC_TEST_POOLER_PORT, when it is set (CONTRIBUTING.md). */
const urisOf = ({ uri }: TestDatabase): Partial<Record<SettingKey, string>> => {
  const port = process.env['SVC_TEST_POOLER_PORT'];
  if (!port) return { databaseUri: uri };
  const pooler = new URL(uri);
  pooler.port = port;
  return { databaseUri: pooler.href, databaseListenUri: uri };
};

/**
 * `none` is for tests that execute no graph: no executor is started. An executor needs more CPU than the rest of the server. Runs stay
 * pending, and state updates and schemas are answered with 503. `ready` is for tests of what happens at once: runs wait until an executor
 * is ready.
 */
export type TestExecutors = 'none' | 'started' | 'ready';

export const startTestServer = async (
  given: {
    project?: string;
    settings?: TestSettings;
    /** A database that other nodes use too; it outlives the server. */
    database?: TestDatabase;
    /** Gets the lines of the log. */
    logger?: Logger;
    executors?: TestExecutors;
  } = {},
): Promise<TestServer> => {
  const database = given.database ?? (await testDatabase());
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-server-'));
  const chosen = testSettings({ dataDir, ...urisOf(database), ...given.settings });
  const settings: Settings =
    given.executors === 'none' ? { ...chosen, runs: { ...chosen.runs, executors: 0 } } : chosen;
  const logger = given.logger ?? createLogger(settings.log);
  const project = loadSvcJson(given.project ?? testProject, {});
  const server = await startServer({ settings, project, logger });
  if (given.executors === 'ready') await until(async () => (await fetch(`${server.url}/ready`)).ok);
  return {
    url: server.url,
    drain: (hurry) => server.drain(hurry),
    database,
    async call(method, path, body, given = {}) {
      const response = await fetch(server.url + path, {
        method,
        ...(body === undefined
          ? { headers: given }
          : { headers: { 'content-type': 'application/json', ...given }, body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      return {
        status: response.status,
        body: isJson && text !== '' ? JSON.parse(text) : text,
        headers: response.headers,
      };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      if (!given.database) await database[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
