// The embedded PostgreSQL with real processes and real kills.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning } from '../../src/storage/embedded/process-identity.ts';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';

let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-embedded-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  const pid = await postmasterPid();
  if (pid && isRunning(pid)) process.kill(pid, 'SIGKILL');
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
});

const postmasterPid = async (): Promise<number | undefined> => {
  const file = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(file.split('\n')[0]) || undefined;
};

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition did not come true');
    await sleep(10);
  }
};

interface Owner {
  child: ChildProcess;
  pid: number;
  /** Ids that were acknowledged. */
  rows: number[];
}

const startOwner = async (write = false): Promise<Owner> => {
  const script = fileURLToPath(new URL('./owner.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), script, dataDir, ...(write ? ['write'] : [])],
    { stdio: ['pipe', 'pipe', 'inherit'] },
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
  it('starts, is shared, and stops with the last one out', async () => {
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

  it('goes on when its owner is killed, and the next one adopts it', async () => {
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

  it('loses no acknowledged row when everything is killed at once, five times', async () => {
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
});
