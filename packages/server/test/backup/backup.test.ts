// Backups of a database: what they contain, what a restore refuses, and that a failed restore changes nothing.
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BackupProgress, writeBackup } from '../../src/storage/backup/backup.ts';
import { FolderSource, FolderTarget } from '../../src/storage/backup/folder-place.ts';
import { restoreBackup, verifyBackup } from '../../src/storage/backup/restore.ts';
import { checkSchema, migrate, readSchemaState } from '../../src/storage/schema/migrate.ts';
import { readSchemaFiles } from '../../src/storage/schema/sql-files.ts';
import { schemaSnapshot } from '../../scripts/schema-snapshot.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { digests, fillDatabase, run } from './filled-database.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const source = fixture(() => testDatabase());
const scratch = sharedFolder();
let folder: string;

beforeAll(async () => {
  await fillDatabase(source);
  folder = join(scratch, 'whole');
  await backUp(source, folder);
});

const never = new AbortController().signal;

const backUp = (database: TestDatabase, to: string): Promise<unknown> =>
  writeBackup(database.options, { target: new FolderTarget(to), program: '0.1.0', signal: never });

const verify = (from: string) => verifyBackup(new FolderSource(from), 'checksums');

const restore = async (target: TestDatabase, from: string): Promise<void> =>
  restoreBackup({ database: target, options: target.options }, new FolderSource(from), await verify(from));

describe('a backup', () => {
  it('is restored with every row, partition and sequence, and the whole schema', async () => {
    await using target = await testDatabase({ migrated: false });
    await restore(target, folder);
    expect(await digests(target)).toEqual(await digests(source));
    expect((await digests(target))['threads']).toMatch(/^5000 /);
    await checkSchema(target, readSchemaFiles());
    expect(await schemaSnapshot(target)).toBe(await schemaSnapshot(source));
    const next = `select nextval(pg_get_serial_sequence('svc.trace_hour_changes', 'id')) as id`;
    expect(await run(target, next)).toEqual(await run(source, next));
    const enabled = `select tgname from pg_trigger where not tgisinternal and tgenabled <> 'O'`;
    expect(await run(target, enabled)).toEqual([]);
  });

  it('is restored into a migrated database without data too', async () => {
    await using target = await testDatabase();
    await restore(target, folder);
    expect(await digests(target)).toEqual(await digests(source));
    expect(
      await run(target, `select tgname from pg_trigger where not tgisinternal and tgenabled <> 'O'`),
    ).toEqual([]);
  });

  it('with fewer migrations than this program is restored, and then migrated', async () => {
    await using old = await testDatabase();
    await run(old, `insert into workspaces (id, display_name) values (gen_random_uuid(), 'old')`);
    await run(
      old,
      'drop table exports, export_runs, export_files, export_events, export_destinations cascade',
    );
    await run(old, `delete from schema_migrations where name = '0005-exports'`);
    const from = join(scratch, 'old');
    await backUp(old, from);
    await using target = await testDatabase({ migrated: false });
    await restore(target, from);
    await checkSchema(target, readSchemaFiles());
    expect(await run(target, 'select display_name from workspaces')).toEqual([{ display_name: 'old' }]);
    expect(await run(target, 'select * from exports')).toEqual([]);
  });

  it('contains one moment, and blocks neither writers nor partitions of new days', async () => {
    let isDone = false;
    const writing = (async () => {
      for (let n = 0; !isDone; n++) {
        // Both rows or none, in two tables that are copied at different times.
        await source.transact(async (tx) => {
          await tx.query({ text: 'insert into store_items (namespace, key, value) values ($1, $2, $3)' }, [
            ['pair'],
            `a${n}`,
            '{}',
          ]);
          await tx.query(
            {
              name: '',
              text: `insert into workspaces (id, display_name) values (gen_random_uuid(), 'pair')`,
            },
            [],
          );
        });
        if (n === 5) await run(source, `select add_trace_days(array['2026-02-02']::date[])`);
      }
    })();
    const from = join(scratch, 'moment');
    await backUp(source, from);
    isDone = true;
    await writing;
    await using target = await testDatabase({ migrated: false });
    await restore(target, from);
    const [counts] = await run<{ items: string; workspaces: string }>(
      target,
      `select (select count(*) from store_items where namespace = array['pair']) as items,
        (select count(*) from workspaces where display_name = 'pair') as workspaces`,
    );
    expect(counts?.items).toBe(counts?.workspaces);
  });

  it('reports its progress before each table', async () => {
    const seen: BackupProgress[] = [];
    const target = new FolderTarget(join(scratch, 'progress'));
    const options = { target, program: '0.1.0', signal: never };
    const { tables } = await writeBackup(source.options, { ...options, onProgress: (one) => seen.push(one) });
    expect(seen.map(({ table }) => table)).toEqual(tables.map(({ name }) => name));
    expect(seen.map(({ copied }) => copied)).toEqual(tables.map((_, index) => index));
    expect(seen.at(-1)?.all).toBe(tables.length);
    expect(seen.at(-1)?.bytes).toBe(tables.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0));
  });

  it('that is stopped leaves nothing', async () => {
    const stop = new AbortController();
    const parent = join(scratch, 'stopped');
    const backup = writeBackup(source.options, {
      target: new FolderTarget(join(parent, 'a')),
      program: '0.1.0',
      signal: stop.signal,
      onProgress: ({ table }) => {
        if (table === 'threads') stop.abort(new Error('stopped by SIGINT'));
      },
    });
    await expect(backup).rejects.toThrow('stopped by SIGINT');
    expect(await readdir(parent)).toEqual([]);
  });

  it('is readable by its owner only', async () => {
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder))
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });

  it('is not written into a folder that contains something, and leaves nothing there', async () => {
    const taken = join(scratch, 'taken');
    await mkdir(taken);
    await writeFile(join(taken, 'mine'), 'mine');
    await expect(backUp(source, taken)).rejects.toThrow('is not empty');
    expect(await readdir(taken)).toEqual(['mine']);
  });

  it('of a database without svc fails, and leaves nothing', async () => {
    await using empty = await testDatabase({ migrated: false });
    const parent = join(scratch, 'none');
    await expect(backUp(empty, join(parent, 'a'))).rejects.toThrow('no data of svc');
    expect(await readdir(parent)).toEqual([]);
  });
});

describe('a restore', () => {
  let damaged: string;
  beforeEach(async () => {
    damaged = join(scratch, 'damaged');
    await cp(folder, damaged, { recursive: true });
  });
  afterEach(() => rm(damaged, { recursive: true, force: true }));

  const rewrite = async (change: (content: Record<string, unknown>) => void): Promise<void> => {
    const file = join(damaged, 'manifest.json');
    const { content } = JSON.parse(await readFile(file, 'utf8')) as { content: Record<string, unknown> };
    change(content);
    const checksum = createHash('sha256').update(JSON.stringify(content)).digest('hex');
    await writeFile(file, JSON.stringify({ checksum, content }));
  };

  it.each<[string, () => Promise<void>, RegExp]>([
    [
      'a file with a changed byte',
      async () => {
        const file = join(damaged, 'threads.copy.gz');
        const bytes = await readFile(file);
        bytes[bytes.length - 20]! ^= 1;
        await writeFile(file, bytes);
      },
      /threads\.copy\.gz is damaged/,
    ],
    [
      'a file that was cut',
      () => truncate(join(damaged, 'threads.copy.gz'), 1_000),
      /threads\.copy\.gz is damaged/,
    ],
    ['a missing file', () => rm(join(damaged, 'threads.copy.gz')), /incomplete: .*threads\.copy\.gz/],
    ['no manifest', () => rm(join(damaged, 'manifest.json')), /There is no backup/],
    [
      'a manifest that was cut',
      () => truncate(join(damaged, 'manifest.json'), 1_000),
      /manifest\.json is damaged/,
    ],
    [
      'a manifest that was edited',
      async () => {
        const file = join(damaged, 'manifest.json');
        await writeFile(file, (await readFile(file, 'utf8')).replace('"rows": 5000', '"rows": 4999'));
      },
      /manifest\.json is damaged/,
    ],
    [
      'a newer schema',
      () =>
        rewrite((content) => {
          (content['migrations'] as object[]).push({ version: 9000, name: '9000-later' });
        }),
      /newer schema.* \(9000-later\)/,
    ],
    [
      'the schema of a checkout before 0.1.0',
      () =>
        rewrite((content) => {
          content['migrations'] = [{ version: 1, name: '0001-init' }];
        }),
      /checkout before 0\.1\.0 \(0001-init\)/,
    ],
    [
      'another format',
      () => rewrite((content) => (content['format'] = 2)),
      /format that this release cannot read/,
    ],
    [
      'a path outside of the folder',
      () =>
        rewrite((content) => {
          (content['tables'] as { file: string }[])[0]!.file = '../secrets.copy.gz';
        }),
      /format that this release cannot read/,
    ],
  ])('refuses %s', async (_, damage, message) => {
    await damage();
    await expect(verify(damaged)).rejects.toThrow(message);
  });

  it('refuses a database with data, and changes nothing there', async () => {
    await using target = await testDatabase();
    await run(target, `insert into workspaces (id, display_name) values (gen_random_uuid(), 'mine')`);
    const before = await digests(target);
    await expect(restore(target, folder)).rejects.toThrow(/not empty: workspaces contain rows/);
    expect(await digests(target)).toEqual(before);
  });

  it('whose row counts differ loads nothing, and can be repeated with a good backup', async () => {
    await rewrite((content) => {
      const tables = content['tables'] as { name: string; rows: number }[];
      for (const table of tables) if (table.name === 'webhook_deliveries') table.rows += 1;
    });
    await using target = await testDatabase({ migrated: false });
    await expect(restore(target, damaged)).rejects.toThrow(
      /webhook_deliveries has 1 rows .* Nothing was restored/,
    );
    expect(await run(target, 'select count(*)::integer as count from threads')).toEqual([{ count: 0 }]);
    await restore(target, folder);
    expect((await digests(target))['threads']).toBe((await digests(source))['threads']);
  });

  it('that is stopped loads nothing, and can be repeated', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped by SIGTERM');
    class Stopping extends FolderSource {
      override read(file: string): AsyncIterable<Buffer> {
        if (file === 'threads.copy.gz') stop.abort(reason);
        return super.read(file);
      }
    }
    await using target = await testDatabase({ migrated: false });
    const begun: string[] = [];
    const control = { signal: stop.signal, onBegin: () => Promise.resolve(void begun.push('begun')) };
    const manifest = await verify(folder);
    const on = { database: target, options: target.options };
    await expect(restoreBackup(on, new Stopping(folder), manifest, control)).rejects.toBe(reason);
    expect(begun).toEqual(['begun']);
    expect(await run(target, 'select count(*)::integer as count from threads')).toEqual([{ count: 0 }]);
    await expect(verifyBackup(new FolderSource(folder), 'checksums', stop.signal)).rejects.toBe(reason);
    await expect(migrate(target)).rejects.toThrow(/A restore into this database has not finished/);
    await expect(readSchemaState(target)).rejects.toThrow(/svc restore <backup>/);
    await restore(target, folder);
    expect(await migrate(target)).toEqual({ applied: [] });
    expect((await digests(target))['threads']).toBe((await digests(source))['threads']);
  });

  it('of a database with data does not begin', async () => {
    let hasBegun = false;
    const onBegin = () => Promise.resolve(void (hasBegun = true));
    const on = { database: source, options: source.options };
    const restoring = restoreBackup(on, new FolderSource(folder), await verify(folder), { onBegin });
    await expect(restoring).rejects.toThrow(/not empty/);
    expect(hasBegun).toBe(false);
  });
});
