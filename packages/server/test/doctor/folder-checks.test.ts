// svc doctor: settings, Node, and the data folder.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkDataFiles,
  checkDataFolder,
  checkDiskSpace,
  embeddedOutcome,
} from '../../src/cli/doctor/data-folder.ts';
import { openConnection } from '../../src/storage/postgres/connection.ts';
import { markRestore, unmarkRestore } from '../../src/storage/embedded/restore-mark.ts';
import { checkKeyFile, checkNode, checkPort } from '../../src/cli/doctor/installation.ts';
import { readEmbeddedState } from '../../src/storage/embedded/embedded-state.ts';
import { testSettings } from '../settings.ts';
import { announce } from '../../src/http/server/address-file.ts';
import { createProject, runCli } from '../cli/cli-process.ts';
import { examineInstallation } from './examine-installation.ts';
import { testFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('NOT RUN: svc doctor on a full or read-only disk, since only root may mount one');

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

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
  const project = fixture(() =>
    createProject({ graphs: { agent: './agent.ts:graph', gone: './gone.ts:graph' } }),
  );

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

  it('that others can enter is a warning; one or a secret that others can read is a problem', async () => {
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'encryption.key'), 'secret');
    await chmod(join(folder, 'encryption.key'), 0o644);
    expect(await checkDataFolder(folder)).toMatchObject([
      {
        status: 'problem',
        message: `Other users of this machine can read the data folder ${folder} (mode 755).`,
        remedy: `chmod 700 ${folder}`,
      },
      { status: 'problem', message: expect.stringContaining('encryption.key contains a secret') },
    ]);
    await rm(join(folder, 'encryption.key'));
    await chmod(folder, 0o711);
    expect(await checkDataFolder(folder)).toMatchObject([
      { status: 'warning', remedy: `chmod 700 ${folder}` },
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

describe('the port', () => {
  it('that another program uses is a problem; the server of the data folder may use it', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const at = { host: '127.0.0.1', port: (other.address() as AddressInfo).port };
    expect(await checkPort(at, folder)).toMatchObject({
      status: 'problem',
      message: expect.stringContaining(`Port ${at.port} on 127.0.0.1 is in use`) as string,
    });
    {
      await using _announced = await announce(folder, `http://127.0.0.1:${at.port}`);
      expect(await checkPort(at, folder)).toMatchObject({ status: 'ok' });
    }
    await new Promise((resolve) => other.close(resolve));
    expect(await checkPort(at, folder)).toMatchObject({ status: 'ok' });
  });
});

describe('the file of the encryption key', () => {
  it.each(['', 'short', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64')])(
    'with %j is a problem',
    async (text) => {
      const settings = testSettings({ dataDir: folder });
      expect(await checkKeyFile(settings)).toMatchObject({ status: 'ok' });
      await writeFile(join(folder, 'encryption.key'), text);
      expect(await checkKeyFile(settings)).toMatchObject({
        status: 'problem',
        message: expect.stringContaining('does not contain a valid key') as string,
      });
      await writeFile(join(folder, 'encryption.key'), Buffer.alloc(32).toString('base64'));
      expect(await checkKeyFile(settings)).toMatchObject({ status: 'ok' });
    },
  );
});

describe('the files of a PostgreSQL that does not run', () => {
  /** As initdb leaves them, with one table of two blocks. */
  const initialise = async (): Promise<void> => {
    await chmod(folder, 0o700);
    for (const name of ['global', 'base/5']) {
      await mkdir(join(folder, name), { recursive: true });
      await writeFile(join(folder, name, 'pg_filenode.map'), Buffer.alloc(524));
    }
    await writeFile(join(folder, 'global', 'pg_control'), Buffer.alloc(8_192));
    await writeFile(join(folder, 'base/5', '16384'), Buffer.alloc(16_384));
    await writeFile(join(folder, 'base/5', '16384_vm'), Buffer.alloc(8_192));
    await writeFile(join(folder, 'base/5', 'PG_VERSION'), '18');
  };

  it.each<[string, () => Promise<void>, RegExp]>([
    ['without pg_control', () => rm(join(folder, 'global', 'pg_control')), /pg_control is missing/],
    [
      'with a short pg_control',
      () => truncate(join(folder, 'global', 'pg_control'), 100),
      /pg_control has 100 bytes/,
    ],
    [
      'with a table file that was cut',
      () => truncate(join(folder, 'base/5', '16384'), 10_000),
      /16384 is cut/,
    ],
    [
      'with a table file that was cut at a block, before its next segment',
      () => writeFile(join(folder, 'base/5', '16384.1'), Buffer.alloc(8_192)),
      /16384 is cut: it has 16384 bytes, and 16384\.1 continues it/,
    ],
    [
      'without pg_filenode.map',
      () => rm(join(folder, 'base/5', 'pg_filenode.map')),
      /pg_filenode\.map is missing/,
    ],
    ['without databases', () => rm(join(folder, 'base'), { recursive: true }), /contains no database/],
    ['that others may read', () => chmod(folder, 0o755), /Other users have rights on/],
  ])('%s are a problem', async (_, damage, message) => {
    await initialise();
    expect(await checkDataFiles(folder)).toMatchObject([{ status: 'ok' }]);
    await damage();
    expect(await checkDataFiles(folder)).toMatchObject([
      { status: 'problem', message: expect.stringMatching(message) as string },
    ]);
  });
});

describe('the summary', () => {
  const project = fixture(() => createProject({ graphs: { agent: './agent.ts:graph' } }));

  it('counts the checks that were skipped', async () => {
    const args = ['doctor', '--data-dir', folder, '--port', '0'];
    const text = await runCli(args, { cwd: project.dir }).exit;
    expect(text.stdout).toMatch(
      /\d problems? and \d warnings? found; 8 checks skipped, so there may be more/,
    );
    const json = await runCli([...args, '--json'], { cwd: project.dir }).exit;
    expect(JSON.parse(json.stdout)).toMatchObject({ skipped: 8 });
  });
});
