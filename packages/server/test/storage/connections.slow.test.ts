// The number of connections of a server when the database allows few.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createClient } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../settings.ts';
import { startServer, type RunningServer } from '../../src/app/server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../eventually.ts';
import { withoutUri } from '../global-setup.ts';
import { testProject } from '../server.ts';
import { sharedFolder } from '../folders.ts';

const name = `svc_few_${randomUUID().slice(0, 8)}`;
let admin: pg.Client;
const dataDir = sharedFolder();
beforeAll(async () => {
  admin = new pg.Client(inject('connection'));
  await admin.connect();
  await admin.query(`create role ${name} login createrole password 'few'`);
  await admin.query(`create database ${name} owner ${name}`);
});
afterAll(async () => {
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.query(`drop role if exists ${name}`);
  await admin.end();
});

const uri = (): string => {
  const { host = 'localhost', port = 5432 } = withoutUri(inject('connection'));
  return `postgresql://${name}:few@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
};

const start = (given: Record<string, string>): Promise<RunningServer> => {
  const settings = testSettings({ dataDir, databaseUri: uri(), executors: '2', exportSlots: '2', ...given });
  return startServer({
    settings,
    project: loadSvcJson(testProject, {}),
    logger: createLogger(settings.log),
  });
};

const count = async (text: string): Promise<number> =>
  (await admin.query<{ n: number }>(text)).rows[0]?.n ?? 0;
const sessions = () => count(`select count(*)::integer as n from pg_stat_activity where usename = '${name}'`);

describe('a server on a database with few connections', () => {
  it('uses no more connections than allowed with all of its processes, and works', async () => {
    await admin.query(`alter role ${name} connection limit 20`);
    await using server = await start({});
    const client = createClient({ apiUrl: server.url });
    let most = 0;
    const sampling = setInterval(() => void sessions().then((now) => (most = Math.max(most, now))), 5);
    const threads = await Promise.all(Array.from({ length: 400 }, () => client.threads.create()));
    const results = await Promise.all(
      threads.slice(0, 100).map(async ({ thread_id }, at) => {
        const input = { messages: [{ role: 'user', content: `${at}` }] };
        await client.runs.wait(thread_id, 'chat', { input });
        return client.runs.wait(thread_id, 'chat', { input });
      }),
    );
    clearInterval(sampling);
    expect(results).toHaveLength(100);
    expect(most).toBeGreaterThan(5);
    // Three connections are left for an administrator.
    expect(most).toBeLessThanOrEqual(17);
  });

  it('reports at startup what to change when there are too few', async () => {
    await admin.query(`alter role ${name} connection limit 14`);
    await expect(start({})).rejects.toThrow(
      'This server needs at least 17 connections to PostgreSQL, and only 14 are allowed: raise max_connections by 3 ' +
        '(or the limit of the role or the database), or lower SVC_EXECUTORS (2) or SVC_EXPORT_SLOTS (2)',
    );
    await eventually(async () => expect(await sessions()).toBe(0));
    await using server = await start({ executors: '1', exportSlots: '0' });
    expect((await fetch(`${server.url}/ok`)).status).toBe(200);
  });

  it('leaves the connections that other nodes have reserved', async () => {
    await admin.query(`alter role ${name} connection limit 60`);
    await using first = await start({ executors: '1', exportSlots: '1', role: 'api' });
    await using second = await start({});
    expect([first.url, second.url]).toHaveLength(2);
    const looking = new pg.Client({ connectionString: uri() });
    await looking.connect();
    const nodes = async () =>
      (
        await looking.query<{ slots: number; draining: boolean; connections: number }>(
          'select slots, draining, connections from svc.workers where connections > 0 order by connections',
        )
      ).rows;
    try {
      await eventually(async () =>
        expect(await nodes()).toMatchObject([
          { slots: 0, draining: true, connections: 25 },
          { slots: 1000, draining: false, connections: 32 },
        ]),
      );
    } finally {
      await looking.end();
    }
  });
});
