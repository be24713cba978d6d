import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { isRunning } from './ceph-folder.ts';
import { openCeph, type Ceph, type CephAccess } from './ceph.ts';
import { describeS3, Gateway } from './gateway.ts';

const exists = (folder: string): Promise<boolean> =>
  access(folder).then(
    () => true,
    () => false,
  );
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const timeoutMs = 30_000;

describeS3('a Ceph', () => {
  it('is independent of other clusters, and leaves nothing behind', async () => {
    const both = await Promise.all([openCeph(), openCeph()]);
    for (const {
      access: { endpoint, folder, keys },
    } of both) {
      await using gateway = new Gateway({ endpoint, folder, keys });
      expect(await gateway.objects(await gateway.createBucket())).toEqual([]);
    }
    await Promise.all(both.map((ceph) => ceph[Symbol.asyncDispose]()));
    for (const {
      access: { folder },
      pids,
    } of both) {
      expect(pids.filter(isRunning)).toEqual([]);
      expect(await exists(folder)).toBe(false);
    }
  });

  it('ends when its owner is killed, and the next one removes its folder', async () => {
    const script = fileURLToPath(new URL('./ceph-owner.ts', import.meta.url));
    const owner = spawn(process.execPath, ['--import', tsx, script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(owner, 'exit');
    const [line] = (await once(createInterface(owner.stdout), 'line')) as [string];
    const left = JSON.parse(line) as { access: CephAccess; pids: number[] };
    expect(left.pids.filter(isRunning)).toHaveLength(3);
    owner.kill('SIGKILL');
    await ended;
    await eventually(() => expect(left.pids.filter(isRunning)).toEqual([]), timeoutMs);
    expect(await exists(left.access.folder)).toBe(true);
    await using _next: Ceph = await openCeph();
    expect(await exists(left.access.folder)).toBe(false);
  });

  it('does not remove a folder that a live process uses', async () => {
    const folder = join(tmpdir(), `svc-ceph-${process.ppid}-test`);
    await mkdir(folder);
    await using _next: Ceph = await openCeph();
    expect(await exists(folder)).toBe(true);
    await rm(folder, { recursive: true });
  });

  it('whose start is aborted leaves nothing behind', async () => {
    const abort = new AbortController();
    const starting = openCeph({ signal: abort.signal });
    abort.abort();
    await expect(starting).rejects.toMatchObject({ name: 'AbortError' });
    const mine = (await readdir(tmpdir())).filter((name) => name.startsWith(`svc-ceph-${process.pid}-`));
    expect(mine).toEqual([]);
  });
});
