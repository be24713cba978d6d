// Which process may run PostgreSQL on a data folder, after its last server was killed, or when it runs in another container.
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';
import { identityOf, isRunning } from '../../src/config/process-identity.ts';
import { eventually } from '../eventually.ts';
import { canContain, startContainer, untilWriting } from './container.ts';
import { scaled } from '../speed.ts';
import { testFolder } from '../folders.ts';

let dataDir: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  dataDir = testFolder(inject('scratch'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const startBystander = (): number => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  children.push(child);
  return child.pid ?? 0;
};

const replacePid = async (file: string, pid: number): Promise<void> => {
  const [, ...lines] = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, [String(pid), ...lines].join('\n'));
};

const selectOne = async (connection: pg.PoolConfig): Promise<unknown> => {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    return (await client.query('select 1 as one')).rows;
  } finally {
    await client.end();
  }
};

/** Kills a server with all of its processes, and leaves its lock files. */
const crash = async (): Promise<void> => {
  const embedded = await openEmbedded({ dataDir });
  // The handle's guard would restart a killed server, so the lock files are copied, and restored after a regular stop.
  const copy = join(dataDir, 'kept');
  await cp(join(dataDir, 'postgres', 'postmaster.pid'), join(copy, 'postmaster.pid'));
  await cp(join(dataDir, '.s.PGSQL.5432.lock'), join(copy, '.s.PGSQL.5432.lock'));
  await embedded[Symbol.asyncDispose]();
  await cp(join(copy, 'postmaster.pid'), join(dataDir, 'postgres', 'postmaster.pid'));
  await cp(join(copy, '.s.PGSQL.5432.lock'), join(dataDir, '.s.PGSQL.5432.lock'));
};

describe('a lock file of a killed server', () => {
  it('does not prevent a start when its pid belongs to another process', async () => {
    await crash();
    const bystander = startBystander();
    await replacePid(join(dataDir, 'postgres', 'postmaster.pid'), bystander);
    await replacePid(join(dataDir, '.s.PGSQL.5432.lock'), bystander);
    const embedded = await openEmbedded({ dataDir });
    expect(await selectOne(embedded.connection)).toEqual([{ one: 1 }]);
    await embedded[Symbol.asyncDispose]();
    expect(isRunning(embedded.pid)).toBe(false);
    expect(isRunning(bystander)).toBe(true);
  });
});

describe('a data folder that was copied while its server was running', () => {
  it('is detected at once', async () => {
    const embedded = await openEmbedded({ dataDir });
    const copy = `${dataDir}-copy`;
    await cp(dataDir, copy, { recursive: true, filter: (path) => !path.includes('.s.PGSQL') });
    await embedded[Symbol.asyncDispose]();
    await expect(openEmbedded({ dataDir: copy })).rejects.toThrow(
      /is a copy of the data of a running PostgreSQL.*remove .*postgres\.owner and .*postmaster\.pid/,
    );
    // As the message says.
    await rm(join(copy, 'postgres.owner'));
    await rm(join(copy, 'postgres', 'postmaster.pid'));
    const opened = await openEmbedded({ dataDir: copy });
    await opened[Symbol.asyncDispose]();
    await rm(copy, { recursive: true });
  });

  it('is detected by the server that it names, when the folder has no owner file', async () => {
    const embedded = await openEmbedded({ dataDir });
    const copy = `${dataDir}-copy`;
    await cp(dataDir, copy, { recursive: true, filter: (path) => !path.includes('.s.PGSQL') });
    await rm(join(copy, 'postgres.owner'), { force: true });
    await expect(openEmbedded({ dataDir: copy })).rejects.toThrow(
      `is a copy of the data of a running PostgreSQL (in ${join(dataDir, 'postgres')})`,
    );
    await embedded[Symbol.asyncDispose]();
    await rm(copy, { recursive: true });
  });
});

describe('an opening that is aborted', () => {
  it('waits for no lock, and leaves no server', async () => {
    await writeFile(join(dataDir, 'postgres.lock'), identityOf(startBystander()));
    const stop = new AbortController();
    const opening = openEmbedded({ dataDir, signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(opening).rejects.toThrow(/stopped|aborted/);
    await rm(join(dataDir, 'postgres.lock'));
    const early = AbortSignal.abort(new Error('stopped'));
    await expect(openEmbedded({ dataDir, signal: early })).rejects.toThrow('stopped');
    await expect(readFile(join(dataDir, 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
  });
});

if (!canContain())
  console.warn('NOT RUN: tests of two containers on one volume, since namespaces are forbidden');

describe.runIf(canContain())('two containers on one volume', () => {
  /** A PATH without flock. */
  const withoutFlock = async (): Promise<string> => {
    const bin = join(dataDir, '..', `bin-${Date.now()}`);
    await mkdir(bin);
    await symlink('/usr/bin/unshare', join(bin, 'unshare'));
    return bin;
  };

  it(
    'run one server: the second one is rejected, and starts when the first has been killed',
    async () => {
      await using first = startContainer('first', dataDir);
      await untilWriting(first);
      {
        await using second = startContainer('second', dataDir);
        expect(await second.outcome).toBe(1);
        expect(second.output()).toMatch(/is in use by svc on first/);
      }
      const before = first.rows.length;
      await eventually(() => expect(first.rows.length).toBeGreaterThan(before));
      await first.kill();
      await using third = startContainer('third', dataDir);
      await untilWriting(third);
      // The rows of the first server are present: ids continue.
      expect(third.rows[0]).toBeGreaterThan(first.rows.at(-1) ?? Infinity);
      await third.leave();
      await using fourth = startContainer('fourth', dataDir);
      await untilWriting(fourth);
      await fourth.leave();
    },
    scaled(180_000),
  );

  it(
    'run one server when only the heartbeat of the first is visible',
    async () => {
      const path = await withoutFlock();
      await using first = startContainer('first', dataDir, { path });
      await untilWriting(first);
      {
        await using second = startContainer('second', dataDir, { path });
        expect(await second.outcome).toBe(1);
        expect(second.output()).toMatch(/is in use by svc on first/);
      }
      await first.kill();
      await using third = startContainer('third', dataDir, { path });
      await untilWriting(third);
      expect(third.rows[0]).toBeGreaterThan(first.rows.at(-1) ?? Infinity);
      await third.leave();
    },
    scaled(180_000),
  );

  it('stop a server whose folder another machine has taken over', async () => {
    const embedded = await openEmbedded({ dataDir });
    const file = join(dataDir, 'postgres.owner');
    const owner = JSON.parse(await readFile(file, 'utf8')) as { host: string };
    expect(owner.host).toBe(hostname());
    await writeFile(file, JSON.stringify({ ...owner, boot: 'another', host: 'another' }));
    await eventually(() => expect(isRunning(embedded.pid)).toBe(false));
    await eventually(() => expect(embedded.failure()).toMatch(/taken over by another machine/));
    await embedded[Symbol.asyncDispose]();
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ host: 'another' });
  });
});
