// The embedded PostgreSQL with real processes and real kills.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { isRunning } from '../../src/config/process-identity.ts';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';
import { withLock } from '../../src/storage/embedded/ownership.ts';
import { until } from '../eventually.ts';
import { testFolder } from '../folders.ts';

let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dataDir = testFolder(inject('scratch'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  const pid = await postmasterPid();
  if (pid && isRunning(pid)) process.kill(pid, 'SIGKILL');
});

const postmasterPid = async (): Promise<number | undefined> => {
  const file = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(file.split('\n')[0]) || undefined;
};

interface Owner {
  child: ChildProcess;
  pid: number;
  /** Ids of acknowledged rows. */
  rows: number[];
}

const startOwner = async (write = false, env = process.env): Promise<Owner> => {
  const script = fileURLToPath(new URL('./owner.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), script, dataDir, ...(write ? ['write'] : [])],
    { stdio: ['pipe', 'pipe', 'inherit'], env },
  );
  children.push(child);
  const owner: Owner = { child, pid: 0, rows: [] };
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [kind, number] = line.split(' ');
      if (kind === 'up') owner.pid = Number(number);
      else owner.rows.push(Number(number));
    }
  });
  await until(() => owner.pid !== 0);
  return owner;
};

const count = async (connection: pg.PoolConfig, ids: number[]): Promise<number> => {
  const client = new pg.Client(connection);
  await client.connect();
  const { rows } = await client.query<{ count: string }>('select count(*) from acked where id = any ($1)', [
    ids,
  ]);
  await client.end();
  return Number(rows[0]?.count);
};

const ended = (child: ChildProcess): Promise<void> =>
  until(() => child.exitCode !== null || child.signalCode !== null);

describe('the embedded PostgreSQL', () => {
  it('starts, is shared, and stops when its last user closes it', async () => {
    const first = await startOwner();
    const second = await openEmbedded({ dataDir });
    expect(second.pid).toBe(first.pid);
    first.child.stdin?.write('\n');
    await ended(first.child);
    expect(isRunning(second.pid)).toBe(true);
    await second[Symbol.asyncDispose]();
    expect(isRunning(second.pid)).toBe(false);
  });

  it('is shared by two servers in one process as well', async () => {
    const [first, second] = await Promise.all([openEmbedded({ dataDir }), openEmbedded({ dataDir })]);
    await first[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    expect(isRunning(second.pid)).toBe(true);
    await second[Symbol.asyncDispose]();
    expect(isRunning(second.pid)).toBe(false);
  });

  it('keeps running when its owner is killed, and the next process adopts it', async () => {
    const owner = await startOwner(true);
    await until(() => owner.rows.length > 20);
    owner.child.kill('SIGKILL');
    await ended(owner.child);
    const next = await openEmbedded({ dataDir });
    expect(next.pid).toBe(owner.pid);
    expect(await count(next.connection, owner.rows)).toBe(owner.rows.length);
    await next[Symbol.asyncDispose]();
    expect(isRunning(next.pid)).toBe(false);
    expect(await readdir(join(dataDir, 'attached'))).toEqual([]);
  });

  it('loses no acknowledged row when all processes are killed at once, five times', async () => {
    const acknowledged: number[] = [];
    for (let round = 0; round < 5; round++) {
      const owner = await startOwner(true);
      await until(() => owner.rows.length > 20);
      process.kill(owner.pid, 'SIGKILL');
      owner.child.kill('SIGKILL');
      await ended(owner.child);
      acknowledged.push(...owner.rows);
    }
    const last = await openEmbedded({ dataDir });
    expect(await count(last.connection, acknowledged)).toBe(acknowledged.length);
    await last[Symbol.asyncDispose]();
  });

  it('works below a private directory, and where the path is too long for a socket', async () => {
    const deep = join(dataDir, 'private', 'a-name-that-takes-much-room-'.repeat(4));
    await mkdir(join(dataDir, 'private'), { mode: 0o700 });
    const embedded = await openEmbedded({ dataDir: deep });
    const client = new pg.Client(embedded.connection);
    await client.connect();
    const { rows } = await client.query<Record<string, string>>(
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, current_setting('listen_addresses') as listen`,
    );
    await client.end();
    expect(rows[0]).toEqual({ fsync: 'on', commit: 'on', listen: '' });
    await embedded[Symbol.asyncDispose]();
  });

  it('leaves nothing in /tmp where the path is too long for a socket', async () => {
    const before = await readdir('/tmp');
    const embedded = await openEmbedded({ dataDir: join(dataDir, 'long'.repeat(30)) });
    const host = embedded.connection.host ?? '';
    expect(dirname(host)).toBe('/tmp');
    expect((await stat(host)).mode & 0o777).toBe(0o700);
    await embedded[Symbol.asyncDispose]();
    expect(before).not.toContain(host.slice('/tmp/'.length));
    expect(await readdir('/tmp')).not.toContain(host.slice('/tmp/'.length));
  });

  it('does not use a directory for its socket that others may write to', async () => {
    const long = join(dataDir, 'long'.repeat(30));
    const first = await openEmbedded({ dataDir: long });
    const host = first.connection.host ?? '';
    await first[Symbol.asyncDispose]();
    await mkdir(host);
    await chmod(host, 0o777);
    await expect(openEmbedded({ dataDir: long })).rejects.toThrow(
      /belongs to another user or is accessible to others/,
    );
    await rm(host, { recursive: true });
  });

  it('breaks the lock of a dead process, for one waiter at a time', async () => {
    const dead = spawn(process.execPath, ['-e', '']);
    await ended(dead);
    const lock = join(dataDir, 'postgres.lock');
    await writeFile(lock, `${dead.pid} 1`);
    let inside = 0;
    let most = 0;
    let done = 0;
    await Promise.all(
      Array.from({ length: 20 }, () =>
        withLock(lock, async () => {
          most = Math.max(most, ++inside);
          await sleep(1);
          inside--;
          done++;
        }),
      ),
    );
    expect({ most, done }).toEqual({ most: 1, done: 20 });
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('stops only its own server, when that has died and its pid belongs to another process', async () => {
    const embedded = await openEmbedded({ dataDir });
    process.kill(embedded.pid, 'SIGKILL');
    await until(() => !isRunning(embedded.pid));
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    children.push(bystander);
    const file = join(dataDir, 'postgres', 'postmaster.pid');
    const lines = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, [String(bystander.pid), ...lines.slice(1)].join('\n'));
    await embedded[Symbol.asyncDispose]();
    expect(bystander.pid && isRunning(bystander.pid) && bystander.signalCode).toBe(null);
  });

  it("reports PostgreSQL's own error at once when it cannot start", async () => {
    await (await openEmbedded({ dataDir }))[Symbol.asyncDispose]();
    await writeFile(join(dataDir, 'postgres', 'global', 'pg_control'), '');
    await expect(openEmbedded({ dataDir })).rejects.toThrow(/did not start.*pg_control/s);
    expect(await readdir(join(dataDir, 'attached'))).toEqual([]);
  });

  it('refuses data of another major version, and says how to bring it here', async () => {
    await (await openEmbedded({ dataDir }))[Symbol.asyncDispose]();
    const file = join(dataDir, 'postgres', 'PG_VERSION');
    await writeFile(file, '17\n');
    await expect(openEmbedded({ dataDir })).rejects.toThrow(
      /data of PostgreSQL 17, and the installed PostgreSQL is 18.*svc backup.*svc restore/s,
    );
    await writeFile(file, '18\n');
    await (await openEmbedded({ dataDir }))[Symbol.asyncDispose]();
  });

  it('starts over after an interrupted initdb', async () => {
    await mkdir(join(dataDir, 'postgres.init'));
    await writeFile(join(dataDir, 'postgres.init', 'PG_VERSION'), '18\n');
    const embedded = await openEmbedded({ dataDir });
    expect(await readdir(dataDir)).not.toContain('postgres.init');
    await embedded[Symbol.asyncDispose]();
  });

  it('passes no secrets of the environment to PostgreSQL', async () => {
    const owner = await startOwner(false, { ...process.env, SVC_SECRET_OF_TEST: 'x', PGSSLMODE: 'require' });
    const environment = await readFile(`/proc/${owner.pid}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain('SVC_SECRET_OF_TEST');
  });

  it('survives a Ctrl-C in the terminal', async () => {
    const owner = await startOwner();
    const groups = await Promise.all(
      [owner.pid, owner.child.pid].map((pid) => readFile(`/proc/${pid}/stat`, 'utf8')),
    );
    const [server, ours] = groups.map((text) => text.slice(text.lastIndexOf(')') + 2).split(' ')[2]);
    expect(server).not.toBe(ours);
  });
});

describe.runIf(process.getuid?.() === 0)('the embedded PostgreSQL of root without namespaces', () => {
  /** A PATH without unshare. */
  const forbidden = async (): Promise<NodeJS.ProcessEnv> => {
    const bin = join(dataDir, 'bin');
    await mkdir(bin);
    return { ...process.env, PATH: bin };
  };

  it('runs as user nobody, with data and binaries where that user may read them, even below a private directory', async () => {
    const env = await forbidden();
    await chmod(dataDir, 0o700);
    const owner = await startOwner(true, env);
    const shared = dirname(await readlink(join(dataDir, 'postgres')));
    try {
      expect((await stat(`/proc/${owner.pid}`)).uid).toBe(65_534);
      expect(await readlink(`/proc/${owner.pid}/exe`)).toMatch(/^\/var\/lib\/svc\/postgres-bin-/);
      await until(() => owner.rows.length > 20);
      process.kill(owner.pid, 'SIGKILL');
      owner.child.kill('SIGKILL');
      await ended(owner.child);
      // Existing data is found when namespaces are allowed again.
      const next = await openEmbedded({ dataDir });
      expect(await count(next.connection, owner.rows)).toBe(owner.rows.length);
      await next[Symbol.asyncDispose]();
      expect(isRunning(next.pid)).toBe(false);
    } finally {
      await rm(shared, { recursive: true, force: true });
    }
  });

  it('rejects data that was written inside a namespace instead of starting over', async () => {
    await (await openEmbedded({ dataDir }))[Symbol.asyncDispose]();
    const script = fileURLToPath(new URL('./owner.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), script, dataDir], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: await forbidden(),
    });
    children.push(child);
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await ended(child);
    await until(() => output.includes('created with user namespaces'));
    expect((await lstat(join(dataDir, 'postgres'))).isDirectory()).toBe(true);
  });
});
