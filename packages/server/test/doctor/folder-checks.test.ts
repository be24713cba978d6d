// svc doctor: settings, Node, and the data folder.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkDataFolder } from '../../src/cli/doctor/data-folder.ts';
import { openConnection } from '../../src/storage/postgres/connection.ts';
import { markRestore, unmarkRestore } from '../../src/storage/embedded/restore-mark.ts';
import { checkDiskSpace } from '../../src/cli/doctor/disk-space.ts';
import { embeddedOutcome } from '../../src/cli/doctor/embedded-postgres.ts';
import { checkNode } from '../../src/cli/doctor/node-version.ts';
import { readEmbeddedState } from '../../src/storage/embedded/embedded-state.ts';
import { createProject, type Project } from '../cli/cli-process.ts';
import { examineInstallation } from './examine-installation.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('NOT RUN: svc doctor on a full or read-only disk, since only root may mount one');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-doctor-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the version of Node', () => {
  it.each([
    ['18.20.0', 'problem'],
    ['20.18.3', 'problem'],
    ['20.19.0', 'warning'],
    ['22.12.0', 'ok'],
    ['24.0.0', 'ok'],
  ])('%s: %s', (version, status) => {
    expect(checkNode(version)).toMatchObject({ status });
  });
});

describe('the settings', () => {
  let project: Project;
  beforeAll(
    () => (project = createProject({ graphs: { agent: './agent.ts:graph', gone: './gone.ts:graph' } })),
  );
  afterAll(() => project[Symbol.dispose]());

  it('are reported with all mistakes at once, and nothing else is checked', async () => {
    const found = await examineInstallation(project.dir, { env: { SVC_LEASE: 'soon' } });
    const mistakes = found.of('settings');
    expect(mistakes).toHaveLength(2);
    expect(mistakes.map(({ message }) => message).join('\n')).toMatch(/gone[\s\S]*SVC_LEASE = "soon"/);
    expect(mistakes.every(({ status, remedy }) => status === 'problem' && remedy !== undefined)).toBe(true);
    expect(found.of('schema')).toMatchObject([{ status: 'skipped', message: 'Correct the settings first.' }]);
  });

  it('of a folder without a config file are a problem', async () => {
    const found = await examineInstallation(folder);
    expect(found.of('settings')).toMatchObject([
      { status: 'problem', message: expect.stringContaining('no svc.json') },
    ]);
  });

  it('that access ignores are a warning', async () => {
    project.write('svc.json', { graphs: { agent: './agent.ts:graph' }, auth: { path: './agent.ts:graph' } });
    const found = await examineInstallation(project.dir, { env: { SVC_API_KEY: 'k'.repeat(32) } });
    expect(found.of('settings')).toMatchObject([
      { status: 'ok' },
      { status: 'warning', message: expect.stringContaining('SVC_API_KEY is set and not used') },
    ]);
  });
});

describe('the data folder', () => {
  it('into which a restore has not finished is a problem, and is not opened', async () => {
    await chmod(folder, 0o700);
    await markRestore(folder);
    expect(await checkDataFolder(folder)).toMatchObject([
      {
        status: 'problem',
        message: `A restore into the data folder ${folder} has not finished.`,
        remedy: expect.stringContaining(`svc restore <backup> --data-dir ${folder}`) as string,
      },
    ]);
    const storage = { dataDir: folder, databaseUri: undefined, databaseListenUri: undefined };
    await expect(openConnection(storage)).rejects.toThrow(/has not finished. Repeat it: svc restore/);
    await unmarkRestore(folder);
    expect(await checkDataFolder(folder)).toMatchObject([{ status: 'ok' }]);
  });

  it('that does not exist is not created', async () => {
    expect(await checkDataFolder(join(folder, 'a', 'b'))).toMatchObject([{ status: 'ok' }]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that is private is in order', async () => {
    expect(await checkDataFolder(folder)).toMatchObject([{ status: 'ok' }]);
  });

  it('below a file is a problem', async () => {
    await writeFile(join(folder, 'file'), '');
    for (const path of ['file', 'file/data'])
      expect(await checkDataFolder(join(folder, path))).toMatchObject([
        { status: 'problem', message: expect.stringContaining('is not a folder') },
      ]);
  });

  it('that others can enter is a warning, and a secret that others can read a problem', async () => {
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'encryption.key'), 'secret');
    await chmod(join(folder, 'encryption.key'), 0o644);
    expect(await checkDataFolder(folder)).toMatchObject([
      { status: 'warning', remedy: `chmod 700 ${folder}` },
      { status: 'problem', message: expect.stringContaining('encryption.key contains a secret') },
    ]);
  });

  describe.runIf(isRoot)('on a small disk', () => {
    let disk: string;
    beforeEach(async () => {
      disk = join(folder, 'disk');
      await mkdir(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=700', 'tmpfs', disk]);
    });
    afterEach(() => execFileSync('umount', [disk]));

    it('is a warning, and a problem when it is nearly full', async () => {
      expect(await checkDiskSpace(join(disk, 'data'))).toMatchObject({ status: 'warning' });
      await writeFile(join(disk, 'filler'), Buffer.alloc(150_000_000));
      expect(await checkDiskSpace(join(disk, 'data'))).toMatchObject({ status: 'problem' });
    });

    it('that is read-only is a problem', async () => {
      execFileSync('mount', ['-o', 'remount,ro', disk]);
      expect(await checkDataFolder(join(disk, 'data'))).toMatchObject([
        { status: 'problem', message: expect.stringContaining('read-only file system') },
      ]);
    });

    it('that belongs to another user is a warning', async () => {
      execFileSync('chown', ['12345', disk]);
      expect(await checkDataFolder(disk)).toMatchObject([
        { status: 'warning', message: expect.stringContaining('user with id 12345') },
      ]);
    });
  });
});

describe('the embedded PostgreSQL', () => {
  it('without data is in order, and nothing is written', async () => {
    expect(embeddedOutcome(await readEmbeddedState(folder))).toMatchObject({ status: 'ok' });
    expect(await readdir(folder)).toEqual([]);
  });

  it('with data of another major version is a problem', async () => {
    await mkdir(join(folder, 'postgres'));
    await writeFile(join(folder, 'postgres', 'PG_VERSION'), '16\n');
    expect(embeddedOutcome(await readEmbeddedState(folder))).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('data of PostgreSQL 16'),
    });
  });

  it('of another machine is a warning that names it', async () => {
    const owner = { boot: 'another', namespace: 'pid:[1]', host: 'other-host', pid: 7, inode: 1 };
    await writeFile(join(folder, 'postgres.owner'), JSON.stringify(owner));
    expect(embeddedOutcome(await readEmbeddedState(folder))).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('other-host'),
    });
  });

  it('that was killed does not count as running', async () => {
    await mkdir(join(folder, 'postgres'));
    await writeFile(
      join(folder, 'postgres', 'postmaster.pid'),
      `${process.pid}\n${folder}/postgres\n0\n5432\n/tmp\n`,
    );
    expect((await readEmbeddedState(folder)).running).toBeUndefined();
  });
});
