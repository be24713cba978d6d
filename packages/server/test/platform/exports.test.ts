// Bulk exports over the API: the behaviour that existing clients rely on, and every transition from CREATED to the end.
import { randomUUID } from 'node:crypto';
import { type BulkExport, type ExportRun, ExportStatus, usualExportFields } from '@svc/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  claimed,
  cursorAt,
  newDestination,
  newExport,
  newProject,
  runsOf,
  sample,
  sql,
  wroteFile,
} from './export-fixtures.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';

let platform: PlatformServer;
let destination: string;
let project: string;
beforeAll(async () => {
  // No slots, so no export is executed: the tests set the state of exports in the database.
  platform = await startPlatform({ exportSlots: '0' });
  destination = await newDestination(platform);
  project = await newProject(platform);
});
afterAll(() => platform[Symbol.asyncDispose]());

const make = (more: Record<string, unknown> = {}): Promise<BulkExport> =>
  newExport(platform, { ...sample(destination, project), ...more });
const get = async (id: string): Promise<BulkExport> =>
  (await platform.call('GET', `/bulk-exports/${id}`)).body as BulkExport;
const setStatus = (id: string, status: string): Promise<unknown> =>
  sql(platform, `update exports set status = $2 where id = $1`, [id, status]);

describe('an export', () => {
  it('is CREATED with the requested fields and defaults for the others', async () => {
    const made = await make();
    expect(made).toMatchObject({
      tenant_id: platform.workspace_id,
      bulk_export_destination_id: destination,
      session_id: project,
      all_experiments: false,
      start_time: '2026-03-01T06:00:00.000000Z',
      end_time: '2026-03-03T02:00:00.000000Z',
      filter: null,
      format: 'Parquet',
      format_version: 'v1',
      layout_version: 2,
      compression: 'zstandard',
      interval_hours: null,
      export_fields: null,
      source_bulk_export_id: null,
      status: 'CREATED',
      error: null,
      started_at: null,
      finished_at: null,
      next_export_at: null,
      notice: null,
    });
    expect(await get(made.id)).toEqual(made);
    const requested = {
      filter: 'eq(run_type, "llm")',
      format_version: 'v2_beta',
      compression: 'gzip',
      export_fields: ['start_time', 'id', 'thread_id'],
    };
    expect(await make(requested)).toMatchObject(requested);
    expect(
      await make({ export_fields: [...usualExportFields], end_time: '2026-03-03T04:00:00+02:00' }),
    ).toMatchObject({
      export_fields: usualExportFields,
      end_time: '2026-03-03T02:00:00.000000Z',
    });
  });

  it('says that its window is not over', async () => {
    const end_time = new Date(Date.now() + 3_600_000).toISOString();
    const made = await make({ start_time: new Date().toISOString(), end_time });
    expect(made.notice).toContain(`The window ends at ${made.end_time}, after the export was created`);
    expect((await get(made.id)).notice).toBe(made.notice);
  });

  it('has its partition runs when the response is sent; they cover it exactly', async () => {
    const window = { start_time: '2026-03-01T06:00:00.000001Z', end_time: '2026-03-04T00:00:00.999999Z' };
    const { id, start_time, end_time, progress } = await make(window);
    const runs = await runsOf(platform, id);
    expect(progress).toMatchObject({ runs_total: 4, runs_completed: 0, rows_written: 0, percent: 0 });
    expect(runs.map(({ metadata }) => metadata.start_time.slice(0, 10))).toEqual([
      '2026-03-01',
      '2026-03-02',
      '2026-03-03',
      '2026-03-04',
    ]);
    expect(runs[0]?.metadata.start_time).toBe(start_time);
    expect(runs.at(-1)?.metadata.end_time).toBe(end_time);
    for (const [index, { metadata }] of runs.entries())
      if (index > 0) expect(metadata.start_time).toBe(runs[index - 1]?.metadata.end_time);
    expect(runs[0]).toMatchObject({
      bulk_export_id: id,
      session_id: project,
      status: 'CREATED',
      retry_number: 0,
      errors: null,
      start_time: null,
      end_time: null,
      finished_at: null,
      metadata: { prefix: 'deep/er', execution_backend: null, result: null },
      progress: { attempt: 1, percent: 0, next_retry_at: null, heartbeat_at: null },
    });
  });

  it('has events for what has happened to it', async () => {
    const { id } = await make();
    await platform.call('PATCH', `/bulk-exports/${id}`, { json: { status: 'Cancelled' } });
    const { body } = await platform.call('GET', `/bulk-exports/${id}/events`);
    expect(body).toMatchObject([
      { type: 'created', run_id: null, message: 'Made with 3 export runs' },
      { type: 'cancelled', run_id: null },
    ]);
    const [first] = body as { id: number }[];
    const later = await platform.call('GET', `/bulk-exports/${id}/events?after=${first?.id}&limit=1`);
    expect(later.body).toMatchObject([{ type: 'cancelled' }]);
  });
});

describe('progress', () => {
  it('counts rows, files and time while partition runs execute', async () => {
    const { id } = await make({ start_time: '2026-03-01T00:00:00Z', end_time: '2026-03-05T00:00:00Z' });
    const [done, under, empty] = await runsOf(platform, id);
    for (const run of [done, under, empty]) await claimed(platform, run?.id ?? '');
    await sql(
      platform,
      `update exports set status = 'RUNNING', started_at = now() - interval '10 s' where id = $1`,
      [id],
    );
    await wroteFile(platform, { id: done?.id ?? '', rows: 30, at: '2026-03-01T23:00:00.000001Z' });
    await wroteFile(platform, { id: done?.id ?? '', rows: 10, at: '2026-03-01T23:30:00.000001Z', number: 1 });
    await wroteFile(platform, { id: under?.id ?? '', rows: 60, at: '2026-03-02T06:00:00.000000Z' });
    for (const run of [done, empty])
      await sql(platform, `update export_runs set status = 'COMPLETED', finished_at = now() where id = $1`, [
        run?.id,
      ]);
    await sql(platform, `update export_runs set pending_upload = $2 where id = $1`, [
      under?.id,
      JSON.stringify({
        target_cursor: 'next',
        key: `export_id=${id}/part-1`,
        rows: 7,
        bytes: 9,
        sha256: 'x',
      }),
    ]);

    const found = await get(id);
    expect(found.progress).toMatchObject({
      runs_total: 4,
      runs_completed: 2,
      runs_running: 1,
      runs_failed: 0,
      rows_written: 100,
      files: 3,
      bytes_written: 300,
      raw_bytes: 3_000,
      percent: 56.25,
    });
    expect(found.progress.rows_per_second).toBeLessThanOrEqual(10);
    expect(found.progress.heartbeat_at).toMatch(/^20.*Z$/);

    const runs = await runsOf(platform, id);
    expect(runs[0]).toMatchObject({
      status: 'COMPLETED',
      metadata: {
        result: {
          rows_written: 40,
          exported_files: [`traces/deep/er/export_id=${id}/part-0`, `traces/deep/er/export_id=${id}/part-1`],
          export_path: `traces/deep/er/export_id=${id}/workspace=${platform.workspace_id}/project=${project}/resource=runs/year=2026/month=3/day=1`,
          pending_upload: null,
        },
      },
      progress: { percent: 100, files: 2, rows_written: 40 },
    });
    expect(runs[1]).toMatchObject({
      status: 'RUNNING',
      progress: { percent: 25, rows_per_second: expect.any(Number) as number, attempt: 1 },
      metadata: {
        result: {
          latest_cursor: expect.any(String) as string,
          pending_upload: {
            target_cursor: 'next',
            file_path: `traces/deep/er/export_id=${id}/part-1`,
            rows_count: 7,
          },
        },
      },
    });
    // Clients distinguish an empty day from a day that has not started.
    expect(runs[2]).toMatchObject({
      status: 'COMPLETED',
      metadata: { result: { rows_written: 0, exported_files: [] } },
    });
    expect(runs[3]?.metadata.result).toBeNull();
    // Clients rely on every row being in some partition run.
    const sum = runs.reduce((rows, { metadata }) => rows + (metadata.result?.rows_written ?? 0), 0);
    expect(sum).toBe(found.progress.rows_written);
    expect(await platform.call('GET', `/bulk-exports/${id}/runs/${runs[1]?.id}`)).toMatchObject({
      status: 200,
      body: { id: runs[1]?.id, progress: { percent: 25 } },
    });
  });

  it('reports the error and the time of the next try', async () => {
    const { id } = await make();
    const [run] = await runsOf(platform, id);
    await sql(
      platform,
      `update export_runs set started_at = now(), retry_number = 2, not_before = '2030-01-01T00:00:30Z',
        errors = '{"retry_0": "disk full", "retry_1": "disk full"}' where id = $1`,
      [run?.id],
    );
    expect((await runsOf(platform, id))[0]).toMatchObject({
      retry_number: 2,
      errors: { retry_0: 'disk full', retry_1: 'disk full' },
      progress: { attempt: 3, next_retry_at: '2030-01-01T00:00:30.000000Z' },
    });
  });

  it('of files in a folder, and with Hive paths, has their location', async () => {
    for (const [path, root] of [
      ['/data/exports/shop/', /^\/data\/exports\/shop$/],
      ['shop', /^\/.*\/exports\/shop$/],
    ] as const) {
      const folder = await newDestination(platform, { path });
      const { id } = await make({ bulk_export_destination_id: folder, format_version: 'v2_beta' });
      const [run] = await runsOf(platform, id);
      await claimed(platform, run?.id ?? '');
      const { prefix, result } = (await runsOf(platform, id))[0]?.metadata ?? {};
      const below = `/export_id=${id}/workspace=${platform.workspace_id}/project=${project}/resource=runs/year=2026/month=3/day=1`;
      expect(prefix).toBe('');
      expect(result?.export_path.endsWith(below)).toBe(true);
      expect(result?.export_path.slice(0, -below.length)).toMatch(root);
    }
  });

  it('is 100 percent only when the export is complete', async () => {
    const { id } = await make();
    for (const run of await runsOf(platform, id)) {
      await claimed(platform, run.id);
      await sql(platform, `update export_runs set cursor = $2 where id = $1`, [
        run.id,
        cursorAt(run.metadata.end_time),
      ]);
    }
    await sql(platform, `update export_runs set status = 'COMPLETED' where export_id = $1`, [id]);
    expect((await get(id)).progress.percent).toBe(99.99);
    await setStatus(id, 'COMPLETED');
    expect((await get(id)).progress.percent).toBe(100);
  });
});

describe('a cancel', () => {
  const cancel = (id: string, status = 'Cancelled') =>
    platform.call('PATCH', `/bulk-exports/${id}`, { json: { status } });

  it.each(['Cancelled', 'CANCELLED', 'cancelled'])(
    'as %s ends the export and its partition runs for good',
    async (status) => {
      const { id } = await make();
      const [first, second] = await runsOf(platform, id);
      await claimed(platform, first?.id ?? '');
      await sql(platform, `update export_runs set status = 'COMPLETED', finished_at = now() where id = $1`, [
        second?.id,
      ]);
      await setStatus(id, 'RUNNING');
      const answer = await cancel(id, status);
      expect(answer).toMatchObject({ status: 200, body: { id, status: 'CANCELLED' } });
      expect((answer.body as BulkExport).finished_at).toMatch(/^20/);
      expect((await runsOf(platform, id)).map((run) => run.status)).toEqual([
        'CANCELLED',
        'COMPLETED',
        'CANCELLED',
      ]);
      expect(await cancel(id)).toEqual({ ...answer, headers: expect.anything() as Headers });
    },
  );

  it.each(['COMPLETED', 'FAILED', 'TIMEDOUT'])('of an export that is %s is rejected', async (status) => {
    const { id } = await make();
    await setStatus(id, status);
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await get(id)).status).toBe(status);
  });

  it('is sent to the worker that executes the export', async () => {
    const { id } = await make();
    const rung: string[] = [];
    await using _ = await platform.server.database.listen('svc', (payload) => rung.push(payload));
    await cancel(id);
    await expect.poll(() => rung).toContain(`x:${id}`);
  });

  it('and a completion at the same time yield one end, the first', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, async () => (await make()).id));
    const answers = await Promise.all(
      ids.flatMap((id) => [
        cancel(id),
        sql(platform, `update exports set status = 'COMPLETED' where id = $1 and status = 'CREATED'`, [id]),
        cancel(id),
      ]),
    );
    for (const [index, id] of ids.entries()) {
      const { status } = await get(id);
      const codes = [answers[index * 3], answers[index * 3 + 2]].map(
        (one) => (one as { status: number }).status,
      );
      expect(codes).toEqual(status === 'CANCELLED' ? [200, 200] : [409, 409]);
    }
  });
});

describe('a schedule', () => {
  /** Far enough in the past or future not to be due; otherwise the server would create exports of it at any moment. */
  const schedule = () =>
    make({ start_time: '2126-03-01T06:00:00Z', end_time: undefined, interval_hours: 24 });

  it('has no end and no partition runs, and returns its next export time', async () => {
    const made = await schedule();
    expect(made).toMatchObject({
      status: 'INTERVALSCHEDULED',
      interval_hours: 24,
      end_time: null,
      // The window, and ten minutes for late traces.
      next_export_at: '2126-03-02T06:10:00.000000Z',
      progress: { runs_total: 0, percent: 0 },
    });
    expect(await runsOf(platform, made.id)).toEqual([]);
  });

  it('is cancelled without the exports that it has created', async () => {
    const { id } = await schedule();
    const child = await make();
    await sql(platform, `update exports set source_export_id = $2 where id = $1`, [child.id, id]);
    const later = await make({ start_time: '2026-03-04T00:00:00Z', end_time: '2026-03-05T00:00:00Z' });
    await sql(platform, `update exports set source_export_id = $2 where id = $1`, [later.id, id]);
    const runs = await platform.call('GET', `/bulk-exports/runs?source_bulk_export_id=${id}`);
    expect((runs.body as ExportRun[]).map((run) => run.bulk_export_id)).toEqual([
      child.id,
      child.id,
      child.id,
      later.id,
    ]);
    expect(runs.headers.get('x-pagination-total')).toBe('4');
    const none = await platform.call(
      'GET',
      `/bulk-exports/runs?source_bulk_export_id=${id}&status=Completed`,
    );
    expect(none.body).toEqual([]);
    expect(
      await platform.call('GET', `/bulk-exports/runs?source_bulk_export_id=${randomUUID()}`),
    ).toMatchObject({
      status: 404,
    });
    const cancelled = await platform.call('PATCH', `/bulk-exports/${id}`, { json: { status: 'Cancelled' } });
    expect(cancelled.body).toMatchObject({ status: 'CANCELLED', next_export_at: null });
    const children = await platform.call('GET', `/bulk-exports?source_bulk_export_id=${id}`);
    expect((children.body as BulkExport[]).map((one) => [one.id, one.status])).toEqual([
      [later.id, 'CREATED'],
      [child.id, 'CREATED'],
    ]);
  });
});

describe('a list of exports', () => {
  it('is complete without a limit, and otherwise ends with a short page', async () => {
    await using fresh = await startPlatform({ exportSlots: '0' });
    const body = sample(await newDestination(fresh), await newProject(fresh));
    const made: string[] = [];
    for (let count = 0; count < 7; count++) made.unshift((await newExport(fresh, body)).id);
    const list = async (query: string): Promise<string[]> => {
      const { body: found } = await fresh.call('GET', `/bulk-exports${query}`);
      return (found as BulkExport[]).map(({ id }) => id);
    };
    const whole = await fresh.call('GET', '/bulk-exports');
    expect((whole.body as BulkExport[]).map(({ id }) => id)).toEqual(made);
    expect(whole.headers.get('x-pagination-total')).toBe('7');
    const paged: string[] = [];
    for (let page = ['']; page.length > 0;) {
      page = await list(`?limit=3&offset=${paged.length}`);
      paged.push(...page);
      if (page.length < 3) break;
    }
    expect(paged).toEqual(made);
    expect(await list('?limit=1000&offset=0')).toEqual(made);
    expect(await list('?limit=1000&offset=7')).toEqual([]);
  });

  it('can be filtered by status, project, destination and time', async () => {
    const mine = await newProject(platform);
    const there = await newDestination(platform);
    const first = await make({ session_id: mine });
    const second = await make({ session_id: mine, bulk_export_destination_id: there });
    await setStatus(second.id, 'FAILED');
    const list = async (query: string): Promise<string[]> => {
      const { status, body } = await platform.call('GET', `/bulk-exports?session_id=${mine}&${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return (body as BulkExport[]).map(({ id }) => id);
    };
    expect(await list('')).toEqual([second.id, first.id]);
    expect(await list('status=Failed')).toEqual([second.id]);
    expect(await list('status=created&status=FAILED')).toEqual([second.id, first.id]);
    expect(await list(`bulk_export_destination_id=${there}`)).toEqual([second.id]);
    expect(await list(`created_after=${first.created_at}`)).toEqual([second.id]);
    expect(await list(`created_before=${second.created_at}`)).toEqual([first.id]);
    expect(await list(`source_bulk_export_id=${first.id}`)).toEqual([]);
  });

  it('accepts a status in any case', async () => {
    const anyCase = fc
      .tuple(
        fc.constantFrom(...ExportStatus.options),
        fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
      )
      .map(([status, uppers]) =>
        status
          .split('')
          .map((letter, at) => (uppers[at] ? letter : letter.toLowerCase()))
          .join(''),
      );
    await fc.assert(
      fc.asyncProperty(anyCase, async (status) => {
        const { status: code, body } = await platform.call('GET', `/bulk-exports?limit=1&status=${status}`);
        expect(code).toBe(200);
        for (const one of body as BulkExport[]) expect(one.status).toBe(status.toUpperCase());
      }),
      { numRuns: 30 },
    );
  });

  it('of partition runs has pages and a status filter', async () => {
    const { id } = await make();
    const [first, ...rest] = await runsOf(platform, id);
    await claimed(platform, first?.id ?? '');
    const page = await platform.call('GET', `/bulk-exports/${id}/runs?limit=2&offset=1`);
    expect((page.body as ExportRun[]).map((run) => run.id)).toEqual(rest.map((run) => run.id));
    expect(page.headers.get('x-pagination-total')).toBe('3');
    const running = await platform.call('GET', `/bulk-exports/${id}/runs?status=Running`);
    expect((running.body as ExportRun[]).map((run) => run.id)).toEqual([first?.id]);
  });
});

describe('a manifest', () => {
  it('exists when the export is complete, and not before', async () => {
    const { id } = await make();
    const read = () => platform.call('GET', `/bulk-exports/${id}/manifest`);
    expect(await read()).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await sql(
      platform,
      `update exports set status = 'COMPLETED', manifest = '{"version": 1, "rows": 0}' where id = $1`,
      [id],
    );
    expect(await read()).toMatchObject({ status: 200, body: { version: 1, rows: 0 } });
  });
});

describe('a dry run', () => {
  it('counts the partition runs of an export, and creates nothing', async () => {
    const id = await newProject(platform);
    const post = (start_time: string, more: object = {}) => ({
      id: randomUUID(),
      session_id: id,
      name: 'x',
      run_type: 'chain',
      start_time,
      ...more,
    });
    const sent = await platform.call('POST', '/runs/batch', {
      json: {
        post: [
          post('2026-03-01T05:59:59.999999Z'),
          post('2026-03-01T06:00:00Z'),
          post('2026-03-02T06:00:00Z', { run_type: 'llm' }),
          post('2026-03-03T01:59:59.999999Z'),
          post('2026-03-03T02:00:00Z'),
        ],
      },
    });
    expect(sent.status).toBe(202);
    const plan = (more: object = {}) =>
      platform.call('POST', '/bulk-exports/validate', { json: { ...sample(destination, id), ...more } });
    expect(await plan()).toMatchObject({
      status: 200,
      body: {
        partitions: [
          { start_time: '2026-03-01T06:00:00.000000Z', end_time: '2026-03-02T00:00:00.000000Z' },
          { start_time: '2026-03-02T00:00:00.000000Z' },
          { start_time: '2026-03-03T00:00:00.000000Z', end_time: '2026-03-03T02:00:00.000000Z' },
        ],
        estimated_rows: 3,
        is_exact: true,
      },
    });
    expect((await plan({ filter: 'eq(run_type, "llm")' })).body).toMatchObject({
      estimated_rows: 1,
      is_exact: true,
    });
    expect((await plan({ end_time: undefined, interval_hours: 1 })).body).toMatchObject({
      partitions: [{ start_time: '2026-03-01T06:00:00.000000Z', end_time: '2026-03-01T07:00:00.000000Z' }],
      estimated_rows: 1,
    });
    expect((await platform.call('GET', `/bulk-exports?session_id=${id}`)).body).toEqual([]);
  });

  it("uses the planner's estimate when counting is too expensive", async () => {
    const { database } = platform.server;
    const { exportEstimates } = await import('../../src/storage/exports/export-estimates.ts');
    const id = await newProject(platform);
    const post = Array.from({ length: 50 }, () => ({
      id: randomUUID(),
      session_id: id,
      name: 'x',
      start_time: '2026-03-02T00:00:00Z',
    }));
    await platform.call('POST', '/runs/batch', { json: { post } });
    const scope = {
      tenant_id: platform.workspace_id,
      session_id: id,
      since: '2026-03-01T00:00:00.000000Z',
      until: '2026-03-03T00:00:00.000000Z',
      condition: null,
    };
    expect(await exportEstimates(database).estimate(scope, 50)).toEqual({ rows: 50, is_exact: true });
    const { rows, is_exact } = await exportEstimates(database).estimate(scope, 49);
    expect(is_exact).toBe(false);
    expect(rows).toBeGreaterThanOrEqual(50);
  });
});
