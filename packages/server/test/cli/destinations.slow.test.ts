// svc destinations, and svc exports to a folder, against a server.
import { tmpdir } from 'node:os';
import type { BulkExport, Destination } from '@svc/contract';
import { expect, it } from 'vitest';
import { newProject } from '../platform/export-fixtures.ts';
import { startPlatform } from '../platform/platform-server.ts';
import { runCli } from './cli-process.ts';
import { scaled } from '../speed.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const root = sharedFolder();
const platform = fixture(() => startPlatform({ exportSlots: '0', exportFileRoots: root }));

const svc = (...args: string[]) =>
  runCli(args, {
    cwd: tmpdir(),
    env: { SVC_API_URL: platform.server.url, SVC_PLATFORM_API_KEY: platform.key },
  }).exit;
const secret = 'hunter2hunter2hunter2';

it(
  'creates, lists, shows, tests and deletes a destination',
  async () => {
    const made = await svc('destinations', 'create', '--name', 'disk', '--folder', './shop/');
    expect(made).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('a test file was written') as string,
    });
    const id = made.stdout.trim();
    expect((await svc('destinations', 'list')).stdout).toMatch(new RegExp(`${id}  disk  file  shop`));
    expect(JSON.parse((await svc('destinations', 'show', 'disk')).stdout)).toMatchObject({
      id,
      config: { path: 'shop' },
    });
    expect(await svc('destinations', 'test', 'disk')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok +put\n[^]*Exports can be written there/m) as string,
    });
    expect(await svc('destinations', 'delete', id)).toMatchObject({ code: 0 });
    expect(await svc('destinations', 'show', 'disk')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('svc destinations list') as string,
    });
  },
  scaled(60_000),
);

it(
  'prints why a destination was not created, and no secret',
  async () => {
    const outside = await svc('destinations', 'create', '--name', 'x', '--folder', '/etc');
    expect(outside).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/4\d\d: /) as string,
    });
    const args = [
      'destinations',
      'create',
      '--name',
      'x',
      '--bucket',
      'traces',
      '--endpoint',
      'http://127.0.0.1:1',
    ];
    const env = { SVC_API_URL: platform.server.url, SVC_PLATFORM_API_KEY: platform.key };
    const aws = { AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: secret };
    const refused = await runCli([...args, '--credentials', 'env'], {
      cwd: tmpdir(),
      env: { ...env, ...aws },
    }).exit;
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/4\d\d: /) as string,
    });
    expect(refused.stderr).not.toContain(secret);
  },
  scaled(60_000),
);

it(
  'exports to a folder with the one destination that has it',
  async () => {
    const project = await newProject(platform);
    const args = [
      'exports',
      'create',
      '--project',
      project,
      '--folder',
      'daily/shop',
      '--from',
      '2d',
      '--json',
    ];
    const [first, second] = [await svc(...args), await svc(...args)].map(
      ({ stdout }) => JSON.parse(stdout) as BulkExport,
    );
    expect(second?.bulk_export_destination_id).toBe(first?.bulk_export_destination_id);
    const all = JSON.parse((await svc('destinations', 'list', '--json')).stdout) as Destination[];
    expect(all).toMatchObject([
      { display_name: 'folder daily shop', destination_type: 'file', config: { path: 'daily/shop' } },
    ]);
    expect(await svc('destinations', 'delete', 'folder daily shop')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('409') as string,
    });
  },
  scaled(60_000),
);
