// svc exports, against a server. No export is executed: the test sets the state of exports in the database.
import { createPlatformClient } from '@svc/sdk';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { BulkExport } from '@svc/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/output/exit-code.ts';
import { watchExports } from '../../src/cli/commands/watch-exports.ts';
import {
  claimed,
  newDestination,
  newExport,
  newProject,
  runsOf,
  sample,
  sql,
  wroteFile,
} from '../platform/export-fixtures.ts';
import { startPlatform } from '../platform/platform-server.ts';
import { startTestServer } from '../server.ts';
import { createProject, runCli } from './cli-process.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const platform = fixture(() => startPlatform({ exportSlots: '0' }));
let destination: string;
let project: string;
const folder = fixture(() => createProject());
beforeAll(async () => {
  destination = await newDestination(platform);
  project = await newProject(platform);
});

const start = (args: string[], env: Record<string, string> = {}) =>
  runCli(args, {
    cwd: folder.dir,
    env: { SVC_API_URL: platform.server.url, SVC_PLATFORM_API_KEY: platform.key, ...env },
  });
const svc = (...args: string[]) => start(args).exit;
const end = (id: string, status: string, error: string | null = null): Promise<unknown> =>
  sql(platform, 'update exports set status = $2, error = $3, finished_at = now() where id = $1', [
    id,
    status,
    error,
  ]);
const make = (): Promise<BulkExport> => newExport(platform, sample(destination, project));

describe('svc exports', () => {
  it(
    'creates an export of a named project, lists, shows and cancels it',
    async () => {
      const { body } = await platform.call('POST', '/sessions', { json: { name: 'shop' } });
      const args = [
        '--project',
        'shop',
        '--destination',
        destination,
        '--from',
        '2026-11-01',
        '--to',
        '2026-11-03T12:00:00Z',
      ];
      const made = await svc(
        'exports',
        'create',
        ...args,
        '--fields',
        'id, thread_id',
        '--compression',
        'gzip',
        '--filter',
        'eq(run_type, "llm")',
      );
      expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('3 export runs') as string });
      const id = made.stdout.trim();
      const listed = await svc('exports', 'list');
      expect(listed.stdout).toMatch(
        new RegExp(`${id}  CREATED  0 %   0/3   0     0      2026-11-01  2026-11-03 12:00`),
      );
      const [found] = JSON.parse(
        (await svc('exports', 'list', '--status', 'created', '--json')).stdout,
      ) as BulkExport[];
      expect(found).toMatchObject({
        id,
        session_id: (body as { id: string }).id,
        start_time: '2026-11-01T00:00:00.000000Z',
        end_time: '2026-11-03T12:00:00.000000Z',
        export_fields: ['id', 'thread_id'],
        compression: 'gzip',
        filter: 'eq(run_type, "llm")',
      });
      const shown = await svc('exports', 'show', id);
      for (const words of [
        'CREATED',
        'eq(run_type, "llm")',
        'Parquet v1, gzip',
        '2026-11-02',
        'Made with 3 export runs',
      ])
        expect(shown.stdout).toContain(words);
      expect(await svc('exports', 'cancel', id)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('for good') as string,
      });
      expect(JSON.parse((await svc('exports', 'show', id, '--json')).stdout)).toMatchObject({
        status: 'CANCELLED',
      });
    },
    scaled(60_000),
  );

  it(
    'creates a schedule',
    async () => {
      const args = [
        '--project',
        project,
        '--destination',
        destination,
        '--from',
        '2026-11-01',
        '--every',
        '24',
      ];
      const made = await svc('exports', 'create', ...args);
      expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('every 24 h') as string });
      expect((await svc('exports', 'list', '--status', 'INTERVALSCHEDULED')).stdout).toContain(
        made.stdout.trim(),
      );
      expect(await svc('exports', 'watch', made.stdout.trim())).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('It is a schedule') as string,
      });
    },
    scaled(60_000),
  );

  it(
    'finds the server and its key from the configuration when no option is given',
    async () => {
      mkdirSync(join(folder.dir, 'data'));
      writeFileSync(join(folder.dir, 'data', 'admin-key'), `${platform.key}\n`);
      const env = { SVC_PORT: new URL(platform.server.url).port };
      const found = await runCli(['exports', 'list', '--data-dir', './data'], { cwd: folder.dir, env }).exit;
      expect(found).toMatchObject({ code: 0, stderr: '' });
      const elsewhere = ['exports', 'list', '--data-dir', './data', '--url', 'http://192.0.2.1'];
      expect(await runCli(elsewhere, { cwd: folder.dir, env }).exit).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('SVC_PLATFORM_API_KEY: is missing') as string,
      });
    },
    scaled(60_000),
  );

  it(
    'finds the server at the address that it wrote to its data folder',
    async () => {
      const dataDir = join(folder.dir, 'elsewhere');
      const list = () =>
        runCli(['exports', 'list', '--data-dir', dataDir, '--json'], { cwd: folder.dir }).exit;
      {
        await using _ = await startTestServer({ settings: { dataDir } });
        expect(await list()).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
      }
      expect(readdirSync(dataDir)).not.toContain('server-url');
      writeFileSync(join(dataDir, 'server-url'), 'http://127.0.0.1:1\n');
      const stderr = /http:\/\/127.0.0.1:1 cannot be reached: start it, or/;
      expect(await list()).toMatchObject({ code: 3, stderr: expect.stringMatching(stderr) as string });
    },
    scaled(60_000),
  );

  it(
    'prints that the server cannot be reached when the connection is closed before a request',
    async () => {
      const closing = createServer((socket) => socket.on('error', () => undefined).end());
      await once(closing.listen(0, '127.0.0.1'), 'listening');
      const { port } = closing.address() as AddressInfo;
      expect(await svc('exports', 'list', '--url', `http://127.0.0.1:${port}`)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('cannot be reached') as string,
      });
      closing.close();
    },
    scaled(60_000),
  );

  it.each([
    [['exports', 'create', '--project', 'x'], 2, /required option '--from/],
    [['exports', 'create', '--project', 'x', '--from', '1d'], 2, /Give either a destination, or a folder/],
    [['exports', 'create', '--project', 'x', '--from', 'soon'], 2, /--from = "soon".*\n.*Give a day/],
    [['exports', 'create', '--project', 'x', '--from', '1d', '--every', '24', '--to', 'now'], 2, /no end/],
    [['exports', 'create', '--project', 'x', '--from', '1d', '--every', '24', '--watch'], 2, /does not end/],
    [['exports', 'create', '--project', 'x', '--from', '1d', '--compression', 'zip'], 2, /zstandard/],
    [
      ['exports', 'create', '--project', 'nowhere', '--from', '1d', '--destination', crypto.randomUUID()],
      1,
      /no project/,
    ],
    [['exports', 'show', crypto.randomUUID()], 1, /404: Bulk export/],
    [['exports', 'show', 'x'], 2, /id = "x"/],
    [['exports', 'show', 'abcd-'], 2, /422: .*first characters of a UUID/],
    [['exports', 'show', '00000000'], 1, /no export whose id begins with 00000000/],
    [['exports', 'cancel'], 2, /missing required argument/],
    [['migrate', '--log-level', 'loud'], 2, /flag --log-level = "loud"/],
    [['exports', 'list', '--status', 'asleep'], 2, /422/],
    [['exports', 'list', '--url', 'ftp://x'], 2, /--url/],
    [['exports', 'list', '--url', 'http://127.0.0.1:1'], 3, /cannot be reached/],
    [['exports', 'list', '--api-key', 'wrong-wrong-wrong'], 1, /401/],
    [['destinations', 'create', '--name', 'x'], 2, /Give either a bucket, or a folder/],
    [
      ['destinations', 'create', '--name', 'x', '--bucket', 'b', '--credentials', 'AKIA'],
      2,
      /--credentials = "…"/,
    ],
    [
      ['destinations', 'create', '--name', 'x', '--bucket', 'b', '--credentials', 'env'],
      2,
      /AWS_ACCESS_KEY_ID: is missing/,
    ],
    [
      ['destinations', 'create', '--name', 'x', '--bucket', 'b', '--upload-options', '{'],
      2,
      /--upload-options/,
    ],
    [['destinations', 'rotate', 'x'], 2, /--credentials: is missing/],
  ])('%j is rejected with an explanation', async (args, code, message) => {
    const exit = await svc(...args);
    expect(exit.stderr).toMatch(message);
    expect(exit.stderr).not.toContain('node_modules');
    expect(exit).toMatchObject({ code, stdout: '' });
  });

  it('shows the end of an export with many events', async () => {
    const { id } = await make();
    await sql(
      platform,
      `insert into export_events (tenant_id, export_id, type, message)
        select tenant_id, id, 'claimed', 'Attempt ' || n from exports, generate_series(1, 1100) n where id = $1`,
      [id],
    );
    await svc('exports', 'cancel', id);
    const shown = await svc('exports', 'show', id);
    expect(shown.stdout).toMatch(/Attempt 1100\n.*Cancelled by request\n$/);
    expect(shown.stdout).not.toContain('Attempt 1000\n');
  });

  it.each([[['--help']], [['exports', '--help']], [['destinations', '--help']]])(
    'svc %j prints the table of exit codes',
    async (args) => {
      const { code, stdout } = await svc(...args);
      expect(code).toBe(0);
      const codes = [...stdout.matchAll(/^  (\d+) {2,}\S/gm)].map(([, one]) => Number(one));
      expect(codes).toEqual(Object.values(exitCodes));
    },
  );

  it(
    'exits 3 while the server is not available',
    async () => {
      const away = createHttpServer((_, response) => response.writeHead(503).end('{}'));
      await once(away.listen(0, '127.0.0.1'), 'listening');
      const { port } = away.address() as AddressInfo;
      expect(await svc('exports', 'list', '--url', `http://127.0.0.1:${port}`)).toMatchObject({ code: 3 });
      away.close();
    },
    scaled(60_000),
  );

  it(
    'watch exits at once when the server cannot be reached at the start',
    async () => {
      const unreachable = ['exports', 'watch', crypto.randomUUID(), '--url', 'http://127.0.0.1:1'];
      expect(await svc(...unreachable)).toMatchObject({ code: 3 });
    },
    scaled(60_000),
  );

  it.each(['create', 'list', 'show', 'watch', 'cancel'])('%s has help with an example', async (command) => {
    const { code, stdout } = await svc('exports', command, '--help');
    expect(code).toBe(0);
    for (const words of ['--url', '--json', 'SVC_PLATFORM_API_KEY', 'Examples:'])
      expect(stdout).toContain(words);
  });
});

describe('the first characters of an id', () => {
  it(
    'select an export for show, watch, cancel and --schedule when only one id begins with them',
    async () => {
      const [first, second] = [await make(), await make()];
      const rename = async (id: string, to: string): Promise<void> => {
        for (const statement of [
          `insert into exports select (jsonb_populate_record(e, jsonb_build_object('id', $2::uuid))).* from exports e where id = $1`,
          'update export_runs set export_id = $2 where export_id = $1',
          'delete from exports where id = $1 and $2::uuid is not null',
        ])
          await sql(platform, statement, [id, to]);
      };
      const [a, b] = ['5eed0000-0000-4000-8000-000000000001', '5eed0000-0000-4000-8000-000000000002'];
      await rename(first.id, a);
      await rename(second.id, b);
      const several = await svc('exports', 'show', '5eed0000');
      expect(several).toMatchObject({ code: 2, stdout: '' });
      expect(several.stderr).toContain('Several ids begin with it: ');
      for (const id of [a, b]) expect(several.stderr).toContain(id);
      expect((await svc('exports', 'show', a)).stdout).toContain(a);
      await sql(platform, 'delete from exports where id = $1', [b]);
      expect((await svc('exports', 'show', '5EED')).stdout).toContain(a);
      expect(await svc('exports', 'cancel', '5eed0000-0000-4')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(a) as string,
      });
      expect(await svc('exports', 'watch', '5eed00')).toMatchObject({
        code: 4,
        stdout: expect.stringContaining(`${a} CANCELLED`) as string,
      });
      expect(await svc('exports', 'list', '--schedule', '5eed')).toMatchObject({ code: 0 });
      expect(await svc('exports', 'show', '5eed1')).toMatchObject({ code: 1 });
    },
    scaled(120_000),
  );

  it(
    'select a destination, unless another one has them as its name',
    async () => {
      const short = destination.slice(0, 8);
      expect((await svc('destinations', 'show', short)).stdout).toContain(destination);
      const namesake = await newDestination(platform);
      await sql(platform, 'update export_destinations set display_name = $2 where id = $1', [
        namesake,
        short,
      ]);
      expect((await svc('destinations', 'show', short)).stdout).toContain(namesake);
      expect(await svc('destinations', 'show', 'ffffffff')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('svc destinations list') as string,
      });
    },
    scaled(60_000),
  );
});

describe('watching', () => {
  it(
    'prints lines without a terminal, then the location of the files, and exits 0',
    async () => {
      const { id } = await make();
      await using watch = start(['exports', 'watch', id]);
      await watch.prints(/CREATED 0 %, 0 of 3 runs/);
      const [run, ...rest] = await runsOf(platform, id);
      await claimed(platform, run?.id ?? '');
      await sql(platform, `update exports set status = 'RUNNING', started_at = now() where id = $1`, [id]);
      await wroteFile(platform, { id: run?.id ?? '', rows: 1_234, at: '2026-03-01T23:00:00.000000Z' });
      await sql(
        platform,
        `update export_runs set retry_number = 1, errors = '{"retry_0": "disk full"}', not_before = now() + interval '30 s' where id = $1`,
        [rest[0]?.id],
      );
      await watch.prints(/RUNNING \d+ %, 0 of 3 runs, 1,234 rows/);
      await watch.prints(/2026-03-02: attempt 2: disk full/);
      await sql(platform, `update export_runs set status = 'COMPLETED' where export_id = $1`, [id]);
      await end(id, 'COMPLETED');
      const { code, stdout } = await watch.exit;
      expect(stdout).toContain(
        `COMPLETED: 1,234 rows in 1 file, 100 B\nFiles: s3://traces/deep/er/export_id=${id}\n`,
      );
      expect(stdout).not.toContain('\u001B');
      expect(code).toBe(0);
    },
    scaled(60_000),
  );

  it(
    'exits 4 when an export has failed, was cancelled or timed out, and prints why',
    async () => {
      const { id } = await make();
      await end(id, 'FAILED', 'AccessDenied: the key may not write');
      expect(await svc('exports', 'watch', id)).toMatchObject({
        code: 4,
        stdout: expect.stringMatching(/FAILED: 0 rows[^]*AccessDenied/) as string,
      });
      const json = await svc('exports', 'watch', id, '--json');
      expect(json.code).toBe(4);
      expect(JSON.parse(json.stdout)).toMatchObject({ id, status: 'FAILED' });
      for (const status of ['CANCELLED', 'TIMEDOUT']) {
        await end(id, status);
        expect(await svc('exports', 'watch', id)).toMatchObject({ code: 4 });
      }
    },
    scaled(60_000),
  );

  it(
    'leaves the export running when it is interrupted, and prints that',
    async () => {
      const args = [
        '--project',
        project,
        '--destination',
        destination,
        '--from',
        '2026-11-01',
        '--to',
        '2026-11-02',
      ];
      await using watch = start(['exports', 'create', ...args, '--watch']);
      const [, id = ''] = await watch.prints(/(\S{36}) CREATED 0 %/);
      process.kill(watch.pid, 'SIGINT');
      expect(await watch.exit).toMatchObject({
        code: 130,
        stderr: expect.stringContaining(`The export continues. Watch: svc exports watch ${id}`) as string,
      });
      expect(await platform.call('GET', `/bulk-exports/${id}`)).toMatchObject({
        body: { status: 'CREATED' },
      });
    },
    scaled(60_000),
  );

  it(
    'draws a bar for each export on a terminal, and continues while the server is unavailable',
    async () => {
      const [first, second] = [await make(), await make()];
      const [run] = await runsOf(platform, first.id);
      await claimed(platform, run?.id ?? '');
      await sql(platform, `update exports set status = 'RUNNING', started_at = now() where id = $1`, [
        first.id,
      ]);
      await wroteFile(platform, { id: run?.id ?? '', rows: 50, at: '2026-03-01T15:00:00.000000Z' });
      let text = '';
      let failures = 3;
      const client = createPlatformClient({
        apiUrl: platform.server.url,
        apiKey: platform.key,
        fetch: (input, init) => (failures-- > 0 ? Promise.reject(new TypeError('away')) : fetch(input, init)),
      });
      const terminal = { isTTY: true, columns: 160, rows: 24, write: (more: string) => (text += more) };
      const code = watchExports({ client, ids: [first.id, second.id], json: false, terminal });
      await expect
        .poll(() => text, { timeout: 20_000 })
        .toMatch(/RUNNING +[▉-▏█]+░+ +20 %  0 of 3 runs · 50 rows/);
      await expect.poll(() => text, { timeout: 20_000 }).toMatch(/CREATED +░+ +0 %/);
      await end(first.id, 'COMPLETED');
      await end(second.id, 'CANCELLED');
      expect(await code).toBe(4);
      expect(text).toMatch(/COMPLETED █{24} +100 %/);
      expect(text).toContain(`${first.id} COMPLETED: 50 rows in 1 file`);
    },
    scaled(60_000),
  );
});
