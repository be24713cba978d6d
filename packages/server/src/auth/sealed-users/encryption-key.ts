// The key that secrets are sealed with: the operator's, or one of our own beside the embedded database.
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/project/mistake.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { EncryptionKeyStorage } from '../../storage/auth/encryption-keys.ts';
import { Sealer } from './sealer.ts';

const keyBytes = 32;

/** As the setting was checked: 32 bytes in hex or base64. */
export const parseKey = (text: string): Buffer | undefined => {
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64');
  return key.length === keyBytes ? key : undefined;
};

/** Several processes may start on one folder: the first one's key is everybody's. */
const ownKey = async (dataDir: string): Promise<Buffer> => {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'encryption.key');
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
  const key = parseKey((await readFile(file, 'utf8')).trim());
  if (key === undefined) throw new Error(`${file} holds no key: restore it, or set SVC_ENCRYPTION_KEY`);
  return key;
};

/** With a database of the operator's own, several nodes need one SVC_ENCRYPTION_KEY between them. */
export const openSealer = async (given: Secret | undefined, dataDir: string): Promise<Sealer> => {
  const key = given === undefined ? await ownKey(dataDir) : parseKey(given.reveal());
  if (key === undefined) throw new Error('SVC_ENCRYPTION_KEY must be 32 bytes');
  return new Sealer(key);
};

/**
 * All nodes of a database seal with one key: with another one, runs of users would end in errors wherever they are claimed.
 * The first key that a database sees is its own. Throws a ConfigError.
 */
export const assertSameKey = async (
  { keyId }: Sealer,
  keys: EncryptionKeyStorage,
  storage: { dataDir: string; databaseUri: Secret | undefined },
): Promise<void> => {
  const known = await keys.register(keyId);
  if (known === keyId) return;
  throw new ConfigError([
    {
      where: 'SVC_ENCRYPTION_KEY',
      problem: `the secrets in this database are sealed with key ${known}, and this server has key ${keyId}`,
      remedy:
        storage.databaseUri === undefined
          ? `Set it back, or restore ${join(storage.dataDir, 'encryption.key')}.`
          : 'Set it to the key of the servers that share the database.',
    },
  ]);
};
