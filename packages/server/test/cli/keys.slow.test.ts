// svc keys and svc workspaces, against a server that runs on the same database.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { createProject, runCli } from './cli-process.ts';
import { svcCommand } from '../svc-command.ts';
import { scaled } from '../speed.ts';

it(
  'creates, lists and revokes keys while the server runs',
  async () => {
    using project = createProject();
    const svc = (...args: string[]) => runCli(args, { cwd: project.dir }).exit;
    await using server = runCli(['start', '--port', '0'], { cwd: project.dir });
    const [, url = ''] = await server.prints(/(http:\/\/127\.0\.0\.1:\d+)/);
    // Output that is not a terminal may end up in a log.
    const [, file = ''] = await server.prints(/first API key.* is in (.*)\./);
    expect(file).toBe(join(project.dir, '.svc', 'admin-key'));
    const first = readFileSync(file, 'utf8').trim();
    expect(server.output()).not.toContain('svc_sk_');

    const request = async (key: string, workspace?: string): Promise<number> => {
      const headers = { 'x-api-key': key, ...(workspace === undefined ? {} : { 'x-tenant-id': workspace }) };
      return (await fetch(`${url}/api/v1/sessions`, { headers })).status;
    };
    const key = (
      await svc('keys', 'create', '--role', 'viewer', '--description', 'for \u001b[31mreading')
    ).stdout.trim();
    expect(key).toMatch(/^svc_sk_\w{58}$/);
    expect([await request(first), await request(key), await request('wrong')]).toEqual([200, 200, 401]);

    const listed = (await svc('keys', 'list')).stdout;
    expect(listed).not.toContain(key);
    expect(listed).not.toContain('\u001b');
    const line = listed.split('\n').find((one) => one.includes(key.slice(0, 15))) ?? '';
    expect(line).toMatch(/viewer .*used 20.*for \?\[31mreading/);
    expect((await svc('keys', 'revoke', line.slice(0, 8))).stdout).toContain('is revoked');
    await eventually(async () => expect(await request(key)).toBe(401));

    const workspace = (await svc('workspaces', 'create', 'Second')).stdout.trim();
    expect((await svc('workspaces', 'list')).stdout).toContain(`${workspace}  20`);
    const other = (await svc('keys', 'create', '--workspace', workspace)).stdout.trim();
    expect([await request(other), await request(other, workspace)]).toEqual([200, 200]);

    expect(await svc('keys', 'create')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There are 2 workspaces') as string,
    });
    expect(await svc('keys', 'create', '--role', 'king')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--role') as string,
    });
    expect(await svc('keys', 'revoke', line.slice(0, 36))).toMatchObject({ code: 1 });
  },
  scaled(240_000),
);

it.each([
  ['keys', 'list'],
  ['keys', 'create'],
  ['workspaces', 'list'],
])('svc %s %s creates no database in a folder that has none', async (...args) => {
  using project = createProject();
  expect(await runCli(args, { cwd: project.dir }).exit).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('holds no database') as string,
  });
  expect(existsSync(join(project.dir, '.svc'))).toBe(false);
});

it('svc config exits quietly when the reader of its output closes the pipe', async () => {
  using project = createProject();
  const command = `${process.execPath} ${svcCommand} config --json | head -c 10 >/dev/null; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], { cwd: project.dir });
  expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
});
