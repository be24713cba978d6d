// Queries of traces that exceed their time budget: reading the inputs of a run is slow, as on a slow disk.
import { randomUUID } from 'node:crypto';
import { Client } from 'langsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../exports/export-tables.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { scaled } from '../speed.ts';

const key = `test-${randomUUID()}${randomUUID()}`;
const project = randomUUID();
const days = 10;
const runsPerDay = 40;
/** The time to read the inputs of a run; those of four days take longer than a statement may take here. */
const runSeconds = 0.02;

let database: TestDatabase;
let server: TestServer;
const wanted: string[] = [];

const call = async (path: string, json: unknown): Promise<{ status: number; body: Answer }> => {
  const { status, body } = await server.call('POST', path, json, { 'x-api-key': key });
  return { status, body: body as Answer };
};

interface Answer {
  runs: { id: string }[];
  cursors: { next: string | null };
  items: { thread_id: string }[];
  next_cursor: string | null;
  has_more: boolean;
  is_partial: boolean;
  notice: string | null;
  detail: string;
}

beforeAll(async () => {
  database = await testDatabase();
  server = await startTestServer({
    database,
    settings: {
      // The limit of a statement, also for queries without a budget.
      databaseUri: `${database.uri}${database.uri.includes('?') ? '&' : '?'}statement_timeout=3000`,
      bootstrapApiKey: key,
      bootstrapWorkspaceId: randomUUID(),
      traceQueryMs: 1_000,
    },
  });
  const now = Date.now() - 60_000;
  const post = Array.from({ length: days * runsPerDay }, (_, index) => {
    const id = randomUUID();
    const day = Math.floor(index / runsPerDay);
    const isWanted = index % 25 === 0;
    if (isWanted) wanted.push(id);
    return {
      id,
      session_id: project,
      name: 'run',
      start_time: new Date(now - day * 86_400_000 - (index % runsPerDay) * 1_000).toISOString(),
      inputs: { text: isWanted ? `a needle of ${index}` : 'hay' },
      extra: { metadata: { thread_id: `thread ${index % 50}` } },
    };
  });
  const { status } = await server.call('POST', '/api/v1/runs/batch', { post }, { 'x-api-key': key });
  expect(status).toBe(202);
  await sql(database, 'create sequence looked_at');
  await sql(database, 'grant usage on looked_at to public');
  // Stable, so that a query of the view reads only the inputs of the runs that it needs.
  await sql(
    database,
    `create function look_at(inputs text) returns text language plpgsql stable as
      'begin perform nextval(''looked_at''); perform pg_sleep(${runSeconds}); return inputs; end'`,
  );
  const columns = await sql<{ name: string }>(
    database,
    `select attname as name from pg_attribute where attrelid = 'tenant_runs'::regclass and attnum > 0 order by attnum`,
  );
  const read = columns.map(({ name }) => (name === 'inputs' ? 'look_at(inputs) as inputs' : name));
  await sql(
    database,
    `create or replace view tenant_runs as select ${read.join(', ')} from trace_runs
      where tenant_id = (select current_setting('svc.tenant')::uuid)`,
  );
}, scaled(120_000));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const readCount = async (): Promise<number> =>
  (await sql<{ last_value: number }>(database, 'select last_value::integer from looked_at'))[0]?.last_value ??
  0;

const search = { session: [project], filter: 'search("needle")', select: ['name'] };

describe('a search that exceeds its time budget', () => {
  it(
    'returns what it has found, and continues from there',
    async () => {
      const before = await readCount();
      const found: string[] = [];
      let partials = 0;
      for (let cursor: string | null = null, pages = 0; pages === 0 || cursor !== null; pages++) {
        const { status, body } = await call('/api/v1/runs/query', { ...search, cursor });
        expect(status, JSON.stringify(body)).toBe(200);
        found.push(...body.runs.map(({ id }) => id));
        if (body.is_partial) {
          partials++;
          expect(body.notice).toMatch(
            /used up its time budget of 1 s at runs that started at 20.*cursors\.next continues.*shorter span/,
          );
          expect(body.cursors.next).not.toBeNull();
        } else expect(body.notice).toBeNull();
        cursor = body.cursors.next;
      }
      expect(found).toEqual(wanted);
      expect(partials).toBeGreaterThan(2);
      // Each run is read once by the continued search, and again by statements that exceeded the limit.
      expect((await readCount()) - before).toBeLessThan(4 * days * runsPerDay);
    },
    scaled(120_000),
  );

  it(
    'is read to its end by the stock client',
    async () => {
      const client = new Client({ apiUrl: `${server.url}/api/v1`, apiKey: key });
      const found: string[] = [];
      const query = { projectId: project, filter: search.filter, select: ['name'] };
      for await (const run of client.listRuns(query)) found.push(run.id);
      expect(found).toEqual(wanted);
    },
    scaled(120_000),
  );

  it(
    'lists threads in parts',
    async () => {
      const found: string[] = [];
      let partials = 0;
      for (let cursor: string | null = null, pages = 0; pages === 0 || cursor !== null; pages++) {
        const request = { project_id: project, filter: search.filter, cursor };
        const { status, body } = await call('/api/v2/threads/query', request);
        expect(status, JSON.stringify(body)).toBe(200);
        found.push(...body.items.map(({ thread_id }) => thread_id));
        if (body.is_partial) {
          partials++;
          expect(body).toMatchObject({
            has_more: true,
            notice: expect.stringContaining('next_cursor continues'),
          });
        }
        cursor = body.next_cursor;
      }
      expect(found.toSorted((a, b) => a.localeCompare(b))).toEqual(['thread 0', 'thread 25']);
      expect(partials).toBeGreaterThan(0);
    },
    scaled(120_000),
  );

  it('for a sum returns how to narrow it', async () => {
    const { status, body } = await call('/api/v1/runs/stats', { session: [project], filter: search.filter });
    expect(status).toBe(503);
    expect(body.detail).toMatch(/The sum takes too long: name a project and a shorter span of time/);
    const start_time = new Date(Date.now() - days * 86_400_000).toISOString();
    const asked = { session: [project], filter: search.filter, start_time };
    const series = await call('/api/v1/runs/stats/series', asked);
    expect([series.status, series.body.detail]).toEqual([503, body.detail]);
  });

  it('rejects an invalid cursor', async () => {
    const place = { v: 1, t: '2026-11-20T00:00:00Z', id: project };
    for (const wrong of [{ id: 'x' }, { t: 'x' }, { stretch: 0 }, { stretch: 'x' }]) {
      const cursor = Buffer.from(JSON.stringify({ ...place, ...wrong })).toString('base64url');
      expect((await call('/api/v1/runs/query', { ...search, cursor })).status).toBe(422);
    }
  });
});
