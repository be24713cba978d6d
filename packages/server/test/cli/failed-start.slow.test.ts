// Starts that fail: they end with an error message and leave nothing behind.
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import { testSettings } from '../settings.ts';
import { startServer } from '../../src/app/server.ts';
import { identityOf } from '../../src/config/process-identity.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { childrenOf } from '../faults/process-tree.ts';
import { testProject } from '../server.ts';
import { createProject, runCli } from './cli-process.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const folder = sharedFolder();
const project = fixture(() => createProject());
const db = fixture(() => testDatabase());

const start = (dataDir: string, env: Record<string, string> = {}) =>
  runCli(['start', '--port', '0', '--data-dir', dataDir], { cwd: project.dir, env });

describe('a start that fails half way', () => {
  it('on a port in use creates neither a database nor a key', async () => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const dataDir = join(folder, 'port-taken');
    const { port } = taken.address() as net.AddressInfo;
    try {
      const args = ['start', '--port', String(port), '--data-dir', dataDir];
      const { code, stderr } = await runCli(args, { cwd: project.dir }).exit;
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is in use') as string,
      });
      await expect(stat(dataDir)).rejects.toThrow('ENOENT');
    } finally {
      taken.close();
    }
  });

  it('on a database of a checkout before 0.1.0 changes nothing', async () => {
    await using early = await testDatabase();
    await early.script(`update schema_migrations set name = '0001-init', checksum = 'x' where version = 1;
      delete from schema_migrations where version = 5; delete from schema_functions`);
    const dataDir = join(folder, 'early');
    const { code, stderr } = await start(dataDir, { SVC_DATABASE_URI: early.uri }).exit;
    expect(code).toBe(1);
    expect(stderr).toContain(
      'The database contains data of a checkout before 0.1.0 (migration 0001-init differs). Start with an empty data folder or database',
    );
    const applied = await early.query({ name: 'applied', text: 'select from schema_migrations' }, []);
    expect(applied).toHaveLength(4);
    expect(await early.query({ name: 'functions', text: 'select from schema_functions' }, [])).toEqual([]);
  });

  it('closes what it had opened', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    // The first key cannot be written to its file; by then executors run.
    const settings = testSettings({ dataDir: join(file, 'data'), databaseUri: db.uri });
    const starting = startServer({
      settings,
      project: loadSvcJson(testProject, {}),
      logger: createLogger(settings.log),
    });
    await expect(starting).rejects.toThrow(/ENOTDIR/);
    expect(childrenOf(process.pid, 'executor.js')).toEqual([]);
    await eventually(async () => {
      const sessions = await db.query(
        {
          name: 'sessions',
          text: `select pid from pg_stat_activity where datname = current_database() and query like '%listen%' and pid <> pg_backend_pid()`,
        },
        [],
      );
      expect(sessions).toEqual([]);
    });
  });
});

describe('a start that gets a stop signal', () => {
  it('stops while it waits for the data folder', async () => {
    const dataDir = join(folder, 'locked');
    await mkdir(dataDir);
    const holder = spawn('sleep', ['600']);
    await writeFile(join(dataDir, 'postgres.lock'), identityOf(holder.pid ?? 0));
    await using svc = start(dataDir);
    await eventually(() => stat(join(dataDir, 'attached')));
    process.kill(svc.pid, 'SIGTERM');
    expect(await svc.exit).toMatchObject({ code: 0, stderr: '' });
    holder.kill('SIGKILL');
  });

  it('ends at the second signal, whatever it waits for', async () => {
    const sockets = new Set<net.Socket>();
    const silent = net.createServer((socket) => sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as net.AddressInfo;
    await using svc = start(join(folder, 'silent'), {
      SVC_DATABASE_URI: `postgresql://svc@127.0.0.1:${port}/svc?connect_timeout=600`,
    });
    await eventually(() => expect(sockets.size).toBe(1));
    let code: number | null | undefined;
    void svc.exit.then((ended) => (code = ended.code));
    // Signals that arrive together count as one.
    await eventually(() => {
      if (code === undefined) process.kill(svc.pid, 'SIGTERM');
      expect(code).toBe(1);
    });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
if (!isRoot) console.warn('NOT RUN: starts on full and read-only disks, since only root may mount them');

describe.runIf(isRoot)('a data folder', () => {
  const mounted = async (name: string, options: string): Promise<{ dir: string } & Disposable> => {
    const dir = join(folder, name);
    await mkdir(dir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir]);
    return { dir, [Symbol.dispose]: () => void execFileSync('umount', ['-l', dir]) };
  };

  it('that is read-only ends the start with an error message, and is accepted when a key is given', async () => {
    using disk = await mounted('read-only', 'size=1m,ro');
    const env = { SVC_DATABASE_URI: db.uri };
    {
      await using svc = start(disk.dir, env);
      const { code, stderr } = await svc.exit;
      expect(stderr).toBe(
        `svc: The data folder ${disk.dir} is on a read-only file system: mount it writable, ` +
          `or choose another folder with --data-dir\n  because: EROFS: read-only file system, open '${disk.dir}/admin-key'\n`,
      );
      expect(code).toBe(1);
    }
    await using svc = start(disk.dir, { ...env, SVC_BOOTSTRAP_API_KEY: 'a-key-of-thirty-two-characters-00' });
    const [, url = ''] = await svc.prints(/API +(http:\/\/\S+)/);
    await eventually(async () => expect((await fetch(`${url}/ready`)).status).toBe(200));
    process.kill(svc.pid, 'SIGTERM');
    expect((await svc.exit).code).toBe(0);
  });

  it.each([
    ['before there is a database', 0],
    ['with a database', 1],
  ])('on a full disk, %s, ends the start with a message that names it', async (_, starts) => {
    using disk = await mounted(`full-${starts}`, 'size=100m');
    for (let at = 0; at < starts; at++) {
      await using svc = start(disk.dir);
      await svc.prints(/API +/);
      process.kill(svc.pid, 'SIGTERM');
      expect((await svc.exit).code).toBe(0);
    }
    const ballast = join(disk.dir, 'ballast');
    execFileSync('sh', ['-c', `dd if=/dev/zero of=${ballast} bs=64k 2>/dev/null || true`]);
    {
      await using svc = start(disk.dir);
      const { code, stderr } = await svc.exit;
      expect(stderr).toContain(
        `svc: The disk of the data folder ${disk.dir} is full (0 of 100 MB are free): free some space`,
      );
      expect(code).toBe(1);
    }
    await rm(ballast);
    await using svc = start(disk.dir);
    await svc.prints(/API +/);
  });
});
