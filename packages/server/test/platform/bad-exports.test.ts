// An invalid export is rejected when it is created, with the location of the error, and nothing is stored. Objects of other workspaces are
// not found.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BulkExport, ExportRun, Fault, NewApiKey, Workspace } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { asTenant } from '../../src/storage/postgres/tenant.ts';
import {
  claimed,
  newDestination,
  newExport,
  newProject,
  runsOf,
  sample,
  sql,
  wroteFile,
} from './export-fixtures.ts';
import { startPlatform } from './platform-server.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';

const platform = fixture(() => startPlatform({ exportSlots: '0' }));
let destination: string;
let project: string;
beforeAll(async () => {
  destination = await newDestination(platform);
  project = await newProject(platform);
});

describe('an export is rejected', () => {
  const cases: [string, Record<string, unknown>, (string | number)[], RegExp][] = [
    ['ends before it starts', { end_time: '2026-02-28T00:00:00Z' }, ['body', 'end_time'], /after start_time/],
    ['ends when it starts', { end_time: '2026-03-01T06:00:00Z' }, ['body', 'end_time'], /after start_time/],
    ['has no end', { end_time: undefined }, ['body', 'end_time'], /is required/],
    ['sets its end to null', { end_time: null }, ['body', 'end_time'], /is required/],
    ['is a schedule with an end', { interval_hours: 24 }, ['body', 'end_time'], /must not be given together/],
    ['is due every 0 hours', { end_time: undefined, interval_hours: 0 }, ['body', 'interval_hours'], />=1/],
    [
      'is due every 169 hours',
      { end_time: undefined, interval_hours: 169 },
      ['body', 'interval_hours'],
      /<=168/,
    ],
    ['is due at fractions', { end_time: undefined, interval_hours: 1.5 }, ['body', 'interval_hours'], /int/],
    ['has 3,661 days', { end_time: '2036-03-09T00:00:00Z' }, ['body', 'end_time'], /3661 days.*3660/],
    ['has 10,000 days', { end_time: '2053-07-17T00:00:00Z' }, ['body', 'end_time'], /\d+ days/],
    ['starts at no time', { start_time: 'yesterday' }, ['body', 'start_time'], /must be a time/],
    ['starts on no day', { start_time: '2026-02-30T00:00:00Z' }, ['body', 'start_time'], /must be a time/],
    ['starts at a number', { start_time: 1_772_000_000 }, ['body', 'start_time'], /must be a time/],
    ['starts before there were runs', { start_time: '0999-12-31T00:00:00Z' }, ['body', 'start_time'], /1000/],
    ['ends in the year 10000', { end_time: '9999-12-31T23:00:00-12:00' }, ['body', 'end_time'], /9999/],
    [
      'is a schedule whose first window ends in the year 10000',
      { start_time: '9999-12-30T00:00:00Z', end_time: undefined, interval_hours: 168 },
      ['body', 'start_time'],
      /9999/,
    ],
    [
      'has an unknown field',
      { export_fields: ['id', 'nonsense'] },
      ['body', 'export_fields', 1],
      /expected one of/,
    ],
    ['has a field twice', { export_fields: ['id', 'name', 'id'] }, ['body', 'export_fields'], /twice/],
    ['has no fields', { export_fields: [] }, ['body', 'export_fields'], />=1/],
    ['has another format', { format: 'CSV' }, ['body', 'format'], /Parquet/],
    ['has another version', { format_version: 'v3' }, ['body', 'format_version'], /v1/],
    ['has another compression', { compression: 'brotli' }, ['body', 'compression'], /zstandard/],
    ['is of experiments', { all_experiments: true }, ['body', 'all_experiments'], /no experiments/],
    ['is of no project', { session_id: undefined }, ['body', 'session_id'], /UUID/],
    ['is of a project with a name', { session_id: 'shop' }, ['body', 'session_id'], /UUID/],
    [
      'has no destination',
      { bulk_export_destination_id: undefined },
      ['body', 'bulk_export_destination_id'],
      /UUID/,
    ],
    ['has an unknown key', { destination: 'x' }, ['body', 'destination'], /unknown key/],
    ['is filtered by nonsense', { filter: 'eq(name' }, ['body', 'filter'], /at character 8/],
    [
      'is filtered by an unknown field',
      { filter: 'and(eq(name, "x"), eq(nonsense, 1))' },
      ['body', 'filter'],
      /at character 23/,
    ],
    ['has an empty filter', { filter: '' }, ['body', 'filter'], />=1/],
  ];
  it.each(cases)('when it %s', async (_, more, loc, message) => {
    const json = { ...sample(destination, project), ...more };
    const before = await sql(platform, 'select id from exports');
    for (const path of ['/bulk-exports', '/bulk-exports/validate']) {
      const { status, body } = await platform.call('POST', path, { json });
      expect(status, JSON.stringify(body)).toBe(422);
      const [fault] = (body as { detail: Fault[] }).detail;
      expect(fault?.loc).toEqual(loc);
      expect(fault?.msg).toMatch(message);
    }
    expect(await sql(platform, 'select id from exports')).toEqual(before);
  });

  it('with all of its errors at once', async () => {
    const json = { ...sample('x', 'y'), compression: 'z', export_fields: [] };
    const { body } = await platform.call('POST', '/bulk-exports', { json });
    expect((body as { detail: Fault[] }).detail.map(({ loc }) => loc.join('.')).toSorted()).toEqual([
      'body.bulk_export_destination_id',
      'body.compression',
      'body.export_fields',
      'body.session_id',
    ]);
  });

  it('when its destination or its project does not exist', async () => {
    for (const path of ['/bulk-exports', '/bulk-exports/validate']) {
      const nowhere = { ...sample(randomUUID(), project) };
      expect(await platform.call('POST', path, { json: nowhere })).toMatchObject({
        status: 404,
        body: { detail: expect.stringContaining('Destination') as string },
      });
      const ofNothing = { ...sample(destination, randomUUID()) };
      expect(await platform.call('POST', path, { json: ofNothing })).toMatchObject({
        status: 404,
        body: { detail: expect.stringContaining('Project') as string },
      });
    }
  });

  it('only above 3,660 days', async () => {
    const json = { ...sample(destination, project), end_time: '2036-03-08T00:00:00Z' };
    const plan = await platform.call('POST', '/bulk-exports/validate', { json });
    expect((plan.body as { partitions: unknown[] }).partitions).toHaveLength(3_660);
    const { id, progress } = await newExport(platform, json);
    expect(progress.runs_total).toBe(3_660);
    expect(await runsOf(platform, id)).toHaveLength(3_660);
    await sql(platform, 'delete from exports');
  });
});

describe('a change of an export', () => {
  it.each(['Running', 'COMPLETED', 'Failed', 'paused', '', 'cancel'])(
    'to status %j is rejected',
    async (status) => {
      const { id } = await newExport(platform, sample(destination, project));
      const answer = await platform.call('PATCH', `/bulk-exports/${id}`, { json: { status } });
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'status'] }] } });
      expect(await platform.call('GET', `/bulk-exports/${id}`)).toMatchObject({
        body: { status: 'CREATED' },
      });
    },
  );

  it.each([{}, { status: null }, { status: 'Cancelled', filter: 'x' }, { status: ['Cancelled'] }])(
    'with body %j is rejected',
    async (json) => {
      const { id } = await newExport(platform, sample(destination, project));
      expect(await platform.call('PATCH', `/bulk-exports/${id}`, { json })).toMatchObject({ status: 422 });
    },
  );
});

describe('a read request', () => {
  it.each([
    ['/bulk-exports?limit=0', ['query', 'limit']],
    ['/bulk-exports?limit=1001', ['query', 'limit']],
    ['/bulk-exports?limit=ten', ['query', 'limit']],
    ['/bulk-exports?offset=-1', ['query', 'offset']],
    ['/bulk-exports?status=Sleeping', ['query', 'status', 0]],
    ['/bulk-exports?session_id=x', ['query', 'session_id']],
    ['/bulk-exports?created_after=yesterday', ['query', 'created_after']],
    ['/bulk-exports/runs', ['query', 'source_bulk_export_id']],
    ['/bulk-exports/runs?source_bulk_export_id=x', ['query', 'source_bulk_export_id']],
    [`/bulk-exports/${randomUUID()}/runs?status=IntervalScheduled`, ['query', 'status', 0]],
    [`/bulk-exports/${randomUUID()}/events?after=x`, ['query', 'after']],
    ['/bulk-exports/destination', ['path', 'export_id']],
    ['/bulk-exports/nonsense/runs', ['path', 'export_id']],
    [`/bulk-exports/${randomUUID()}/runs/nonsense`, ['path', 'run_id']],
  ])('%s is rejected with the location of the error', async (path, loc) => {
    expect(await platform.call('GET', path)).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  });

  it('for an unknown object returns 404', async () => {
    const { id } = await newExport(platform, sample(destination, project));
    const other = await newExport(platform, sample(destination, project));
    const [foreign] = await runsOf(platform, other.id);
    const absent = randomUUID();
    for (const path of ['', '/runs', '/events', '/manifest', `/runs/${absent}`])
      expect(await platform.call('GET', `/bulk-exports/${absent}${path}`), path).toMatchObject({
        status: 404,
      });
    for (const run of [absent, foreign?.id])
      expect(await platform.call('GET', `/bulk-exports/${id}/runs/${run}`)).toMatchObject({ status: 404 });
    const patch = await platform.call('PATCH', `/bulk-exports/${absent}`, { json: { status: 'Cancelled' } });
    expect(patch.status).toBe(404);
  });
});

describe('in a project with a langgraph.json', () => {
  it('statuses have the spelling of stock clients in all responses', async () => {
    const folder = testFolder(fileURLToPath(new URL('../graphs', import.meta.url)));
    await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs: { chat: '../chat.ts:graph' } }));
    await using stock = await startPlatform(
      { exportSlots: '0' },
      { project: join(folder, 'langgraph.json') },
    );
    const body = sample(await newDestination(stock), await newProject(stock));
    const { id, status } = await newExport(stock, body);
    expect(status).toBe('Created');
    const [run] = await runsOf(stock, id);
    const spellings = [
      ['RUNNING', 'Running'],
      ['COMPLETED', 'Completed'],
      ['FAILED', 'Failed'],
      ['CANCELLED', 'Cancelled'],
      ['TIMEDOUT', 'TimedOut'],
    ];
    for (const [stored, spelled] of spellings) {
      await sql(stock, 'update exports set status = $1', [stored]);
      await sql(stock, 'update export_runs set status = $1', [stored]);
      const list = (await stock.call('GET', `/bulk-exports?status=${spelled}`)).body as BulkExport[];
      const runs = (await stock.call('GET', `/bulk-exports/${id}/runs?status=${stored}`)).body as ExportRun[];
      const one = (await stock.call('GET', `/bulk-exports/${id}/runs/${run?.id}`)).body as ExportRun;
      expect([...list, ...runs, one].map((each) => each.status)).toEqual(Array(5).fill(spelled));
    }
    const schedule = await newExport(stock, { ...body, end_time: undefined, interval_hours: 1 });
    expect(schedule.status).toBe('IntervalScheduled');
    const cancelled = await stock.call('PATCH', `/bulk-exports/${schedule.id}`, {
      json: { status: 'Cancelled' },
    });
    expect(cancelled.body).toMatchObject({ status: 'Cancelled' });
  });
});

describe('another workspace', () => {
  it('cannot read an export, and cannot export a project of this workspace', async () => {
    const { id } = await newExport(platform, sample(destination, project));
    const [run] = await runsOf(platform, id);
    await claimed(platform, run?.id ?? '');
    await wroteFile(platform, { id: run?.id ?? '', rows: 1, at: '2026-03-01T12:00:00.000000Z' });
    const made = await platform.call('POST', '/workspaces', { json: { display_name: 'theirs' } });
    const tenant = (made.body as Workspace).id;
    const { body } = await platform.call('POST', '/api-key', {
      json: { role: 'admin' },
      headers: { 'x-tenant-id': tenant },
    });
    const { key } = body as NewApiKey;
    const mine = {
      project: await newProject(platform, { key }),
      destination: await newDestination(platform, undefined, tenant),
    };
    const requests = (ids: { export: string; run: string; destination: string; project: string }) =>
      [
        ['GET', '/bulk-exports'],
        ['GET', `/bulk-exports?session_id=${ids.project}`],
        ['GET', `/bulk-exports?bulk_export_destination_id=${ids.destination}`],
        ['GET', `/bulk-exports/${ids.export}`],
        ['GET', `/bulk-exports/${ids.export}/runs`],
        ['GET', `/bulk-exports/${ids.export}/runs/${ids.run}`],
        ['GET', `/bulk-exports/${ids.export}/events`],
        ['GET', `/bulk-exports/${ids.export}/manifest`],
        ['GET', `/bulk-exports/runs?source_bulk_export_id=${ids.export}`],
        ['PATCH', `/bulk-exports/${ids.export}`, { status: 'Cancelled' }],
        ['POST', '/bulk-exports', sample(ids.destination, mine.project)],
        ['POST', '/bulk-exports', sample(mine.destination, ids.project)],
        ['POST', '/bulk-exports/validate', sample(ids.destination, mine.project)],
        ['POST', '/bulk-exports/validate', sample(mine.destination, ids.project)],
      ] as [string, string, unknown?][];
    const answers = async (ids: Parameters<typeof requests>[0]): Promise<string[]> => {
      const all: string[] = [];
      for (const [method, path, json] of requests(ids)) {
        const answer = await platform.call(method, path, { key, json });
        let text = JSON.stringify(answer.body, (name, value: unknown) =>
          name === 'request_id' ? undefined : value,
        );
        for (const [name, value] of Object.entries(ids)) text = text.replaceAll(value, name);
        all.push(`${method} ${answer.status} ${text}`);
      }
      return all;
    };
    const ours = { export: id, run: run?.id ?? '', destination, project };
    const absent = {
      export: randomUUID(),
      run: randomUUID(),
      destination: randomUUID(),
      project: randomUUID(),
    };
    expect(await answers(ours)).toEqual(await answers(absent));
    expect(await sql(platform, 'select status from exports where id = $1', [id])).toEqual([
      { status: 'CREATED' },
    ]);

    for (const table of ['exports', 'export_runs', 'export_files', 'export_events']) {
      const count = (tenant_id: string) =>
        asTenant(platform.server.database, tenant_id, (tx) =>
          tx.query<{ count: number }>({ text: `select count(*) from ${table}` }, []),
        );
      expect((await count(platform.workspace_id))[0]?.count, table).toBeGreaterThan(0);
      expect((await count(tenant))[0]?.count, table).toBe(0);
    }
  });
});
