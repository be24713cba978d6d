import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ConfigError } from '../../config/project/mistake.ts';
import { Secret } from '../../config/settings/secret.ts';
import { encryptionKeyStorage } from '../../storage/auth/encryption-keys.ts';
import { testDatabase } from '../../../test/database.ts';
import { LazySealer } from './lazy-sealer.ts';

it('creates no key before the first secret, and then one for all nodes', async () => {
  await using database = await testDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-sealer-'));
  const keys = encryptionKeyStorage(database);
  const open = (dir: string) =>
    new LazySealer({ encryptionKey: undefined, storage: { dataDir: dir, databaseUri: undefined }, keys });
  const sealer = open(dataDir);
  expect(await readdir(dataDir)).toEqual([]);
  const [first, second] = await Promise.all([sealer.get(), sealer.get()]);
  expect(first).toBe(second);
  const again = await open(dataDir).get();
  expect(again.open(first.seal('secret', 'of'), 'of')).toBe('secret');
  await rm(dataDir, { recursive: true });
});

it('registers no generated key with a shared database for what can be left out', async () => {
  await using database = await testDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-sealer-'));
  const keys = encryptionKeyStorage(database);
  const databaseUri = new Secret('postgresql://shared');
  const open = (encryptionKey?: Secret) =>
    new LazySealer({ encryptionKey, storage: { dataDir, databaseUri }, keys });
  expect(await open().find()).toBeUndefined();
  expect(await keys.find()).toBeUndefined();
  expect(await readdir(dataDir)).toEqual([]);
  const sealer = await open(new Secret('ab'.repeat(32))).find();
  expect(await keys.find()).toBe(sealer?.keyId);
  await rm(dataDir, { recursive: true });
});

it('rejects a key other than that of the database, until it is corrected', async () => {
  await using database = await testDatabase();
  const keys = encryptionKeyStorage(database);
  const [ours, theirs] = await Promise.all(
    ['ours', 'theirs'].map((name) => mkdtemp(join(tmpdir(), `svc-sealer-${name}-`))),
  );
  const open = (dataDir = '') =>
    new LazySealer({ encryptionKey: undefined, storage: { dataDir, databaseUri: undefined }, keys });
  await open(ours).get();
  const other = open(theirs);
  await expect(other.get()).rejects.toThrow(ConfigError);
  expect(await other.find()).toBeUndefined();
  await database.query({ name: 'test_forget_key', text: 'delete from encryption_keys' }, []);
  await other.get();
  for (const dir of [ours, theirs]) await rm(dir ?? '', { recursive: true });
});
