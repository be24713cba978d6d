// GET /bulk-exports?id_prefix=…, by which commands accept the short ids that they print.
import type { BulkExport } from '@svc/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/storage/postgres/database.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { newDestination, newExport, newProject, sample, sql } from './export-fixtures.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';
import { scaled } from '../speed.ts';

let platform: PlatformServer;
let made: BulkExport;
beforeAll(async () => {
  // No slots: nothing is executed.
  platform = await startPlatform({ exportSlots: '0' });
  made = await newExport(platform, sample(await newDestination(platform), await newProject(platform)));
});
afterAll(() => platform[Symbol.asyncDispose]());

/** Inserts a copy of the export under another id. */
const copy = async (id: string): Promise<string> => {
  await sql(
    platform,
    `insert into exports select (jsonb_populate_record(e, jsonb_build_object('id', $2::uuid))).*
      from exports e where e.id = $1`,
    [made.id, id],
  );
  return id;
};
const list = async (query: string): Promise<string[]> => {
  const { status, body } = await platform.call('GET', `/bulk-exports?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as BulkExport[]).map(({ id }) => id).toSorted();
};

it('lists the exports whose id begins with the prefix, of any length and case', async () => {
  const first = await copy('5eed0000-0000-4000-8000-00000000000a');
  const second = await copy('5eed0000-0000-4000-8000-00000000000b');
  const other = await copy('5eed0000-0000-4000-9000-000000000000');
  const prefix = first.slice(0, -1);
  for (let length = 1; length <= first.length; length += 1) {
    const begins = first.slice(0, length);
    const expected = [made.id, first, second, other].filter((id) => id.startsWith(begins)).toSorted();
    expect(await list(`id_prefix=${begins}`), begins).toEqual(expected);
    expect(await list(`id_prefix=${begins.toUpperCase()}`), begins).toEqual(expected);
  }
  expect(await list(`id_prefix=${prefix}&status=FAILED`)).toEqual([]);
  expect(await list(`id_prefix=${prefix}&status=CREATED&session_id=${made.session_id}`)).toEqual([
    first,
    second,
  ]);
  const page = await platform.call('GET', `/bulk-exports?id_prefix=${prefix}&limit=1`);
  expect(page.body).toHaveLength(1);
  expect(page.headers.get('x-pagination-total')).toBe('2');
});

it.each(['x', '-', '5eed00000', '5eed0000-0000-4000-8000-00000000000a0', '5eed0000--', '5%', "5'"])(
  'refuses the prefix %j with 422',
  async (prefix) => {
    const { status } = await platform.call('GET', `/bulk-exports?id_prefix=${encodeURIComponent(prefix)}`);
    expect(status).toBe(422);
  },
);

/** The plan for any values; `explain (generic_plan)` came with PostgreSQL 16. */
const genericPlan = (database: Database, text: string): Promise<string> =>
  database.transact(async (tx) => {
    const count = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
    const values = Array.from({ length: count }, () => 'null').join(', ');
    await tx.script(`set local plan_cache_mode = force_generic_plan; prepare looked_at as ${text}`);
    const explain = { text: `explain execute looked_at(${values})` };
    const plan = await tx.query<{ 'QUERY PLAN': string }>(explain, []);
    await tx.script('deallocate looked_at');
    return plan.map((row) => row['QUERY PLAN']).join('\n');
  });

it(
  'reads only the range of ids from the primary key, with 20,000 exports',
  async () => {
    const { database } = platform.server;
    await database.script(`
    insert into exports select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
      from exports e, generate_series(1, 20000) where e.id = '${made.id}';
    analyze exports`);
    const selects: string[] = [];
    const recording = (db: Database): Database => ({
      ...db,
      transact: (work) => db.transact((tx) => work(recording(tx))),
      query: (statement, values) => {
        if (statement.text.includes('from exports e')) selects.push(statement.text);
        return db.query(statement, values);
      },
    });
    const none = { statuses: null, session_id: null, destination_id: null, source_export_id: null };
    const filter = { ...none, created_after: null, created_before: null, id_prefix: '5eed' };
    const tenant_id = platform.workspace_id;
    await exportStorage(recording(database)).list({ ...filter, tenant_id }, { limit: 6, offset: 0 }, 1_000);
    expect(selects).toHaveLength(2);
    for (const text of selects) {
      const lines = await genericPlan(database, text);
      expect(lines).toContain('exports_pkey');
      expect(lines).toMatch(/Index Cond: .*\bid >= \$2/);
      expect(lines).not.toContain('exports_created');
    }
  },
  scaled(180_000),
);

it('lists no exports of another workspace', async () => {
  const other = await platform.call('POST', '/workspaces', { json: { display_name: 'other' } });
  const headers = { 'x-tenant-id': (other.body as { id: string }).id };
  const path = `/bulk-exports?id_prefix=${made.id.slice(0, 8)}`;
  expect(await platform.call('GET', path, { headers })).toMatchObject({ status: 200, body: [] });
  const own = { 'x-tenant-id': platform.workspace_id };
  expect(await platform.call('GET', path, { headers: own })).toMatchObject({ body: [{ id: made.id }] });
});
