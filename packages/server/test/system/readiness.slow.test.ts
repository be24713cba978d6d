// The responses of /ready while a server cannot serve.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../settings.ts';
import { startServer, type RunningServer } from '../../src/app/server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { openProxy } from '../faults/tcp-proxy.ts';
import { testFolder } from '../folders.ts';

let folder: string;
let db: TestDatabase;
beforeEach(async () => {
  folder = testFolder();
  db = await testDatabase();
});
afterEach(async () => {
  await db[Symbol.asyncDispose]();
});

const loadGraphs = (): Promise<void> => writeFile(join(folder, 'go'), '');

const start = (databaseUri = db.uri, role = 'all'): Promise<RunningServer> => {
  const settings = testSettings({ dataDir: folder, databaseUri, role });
  const project = loadSvcJson(fileURLToPath(new URL('./svc.json', import.meta.url)), {});
  const env = { SLOW_GRAPH_FILE: join(folder, 'go') };
  return startServer({ settings, project: { ...project, env }, logger: createLogger(settings.log) });
};

const ready = async ({ url }: RunningServer) => {
  const response = await fetch(`${url}/ready`);
  const { message, workers } = (await response.json()) as { message?: string; workers?: number };
  return { status: response.status, message, workers };
};

describe('/ready', () => {
  it('is 503 until an executor has loaded all valid graphs', async () => {
    await using server = await start();
    expect(await ready(server)).toEqual({
      status: 503,
      message: 'No executor can run a graph yet: graphs are being loaded',
    });
    await loadGraphs();
    await eventually(async () => expect(await ready(server)).toEqual({ status: 200, workers: 1 }));
  });

  it('ignores workers whose executors still load', async () => {
    await using worker = await start(db.uri, 'worker');
    await using api = await start(db.uri, 'api');
    await eventually(async () => {
      const rows = await db.query({ name: 'seen', text: 'select 1 from workers' }, []);
      expect(rows.length).toBeGreaterThan(0);
    });
    expect((await ready(api)).status).toBe(503);
    expect((await ready(worker)).status).toBe(503);
    await loadGraphs();
    await eventually(async () => expect(await ready(api)).toEqual({ status: 200, workers: 1 }));
  });

  it('reports since when the database is unavailable', async () => {
    await loadGraphs();
    const { host = '', port = 5432 } = db.options.connection;
    const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    await using proxy = await openProxy(target);
    const uri = new URL(db.uri);
    uri.searchParams.delete('host');
    uri.searchParams.delete('port');
    uri.host = `127.0.0.1:${proxy.port}`;
    await using server = await start(uri.href);
    await eventually(async () => expect((await ready(server)).status).toBe(200));
    proxy.refuse();
    await eventually(async () => {
      expect(await ready(server)).toMatchObject({
        status: 503,
        message: expect.stringMatching(/^Connecting to the database for \d+ s/) as string,
      });
    });
    proxy.pass();
    await eventually(async () => expect((await ready(server)).status).toBe(200));
  });
});
