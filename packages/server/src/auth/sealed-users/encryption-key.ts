// The key that encrypts secrets: from the settings, or generated and stored next to the embedded database.
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/project/mistake.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { EncryptionKeyStorage } from '../../storage/auth/encryption-keys.ts';
import { Sealer } from './sealer.ts';

const keyBytes = 32;

/** 32 bytes in hex or base64, as the setting is validated. */
export const parseKey = (text: string): Buffer | undefined => {
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64');
  return key.length === keyBytes ? key : undefined;
};

/** The file of the key that svc generates. */
export const keyFileIn = (dataDir: string): string => join(dataDir, 'encryption.key');

/** Several processes may start on one folder: all of them use the key of the first. */
const ownKey = async (dataDir: string): Promise<Buffer> => {
  await mkdir(dataDir, { recursive: true });
  const file = keyFileIn(dataDir);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(keyBytes).toString('base64')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
  return readKey(file);
};

const readKey = async (file: string): Promise<Buffer> => {
  const key = parseKey((await readFile(file, 'utf8')).trim());
  if (key === undefined)
    throw new Error(`${file} does not contain a valid key: restore it, or set SVC_ENCRYPTION_KEY`);
  return key;
};

/** On an external database, all nodes need the same SVC_ENCRYPTION_KEY. */
export const openSealer = async (given: Secret | undefined, dataDir: string): Promise<Sealer> => {
  const key = given === undefined ? await ownKey(dataDir) : parseKey(given.reveal());
  if (key === undefined) throw new Error('SVC_ENCRYPTION_KEY must be 32 bytes');
  return new Sealer(key);
};

/** Like `openSealer`, without generating a key. Undefined when there is none yet. */
export const findSealer = async (given: Secret | undefined, dataDir: string): Promise<Sealer | undefined> => {
  if (given !== undefined) return openSealer(given, dataDir);
  try {
    return new Sealer(await readKey(keyFileIn(dataDir)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/**
 * Checks that all nodes of a database encrypt with the same key; otherwise runs of users would fail on nodes with another key. The first
 * key that is used with a database is recorded in it. Throws a ConfigError.
 */
export const assertSameKey = async (
  { keyId }: Sealer,
  keys: EncryptionKeyStorage,
  storage: { dataDir: string; databaseUri: Secret | undefined },
): Promise<void> => {
  const known = await keys.register(keyId);
  if (known === keyId) return;
  throw new ConfigError({
    where: 'SVC_ENCRYPTION_KEY',
    problem: `the secrets in this database are encrypted with key ${known}, but this server has key ${keyId}`,
    remedy:
      storage.databaseUri === undefined
        ? `Set it back, or restore ${keyFileIn(storage.dataDir)}.`
        : 'Set it to the key of the servers that share the database.',
  });
};
