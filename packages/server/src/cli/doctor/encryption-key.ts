// The key that encrypts secrets is the one of the secrets in the database.
import { findSealer, keyFileIn } from '../../auth/sealed-users/encryption-key.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { EncryptionKeyStorage } from '../../storage/auth/encryption-keys.ts';
import { ok, type Outcome, problem } from './finding.ts';

/** The key of the settings was checked with them; the file in the data folder is read here. */
export const checkKeyFile = async ({ auth, storage }: Settings): Promise<Outcome> => {
  if (auth.encryptionKey !== undefined) return ok('SVC_ENCRYPTION_KEY has 32 bytes.');
  const file = keyFileIn(storage.dataDir);
  try {
    const sealer = await findSealer(undefined, storage.dataDir);
    return ok(sealer === undefined ? 'There is no encryption key yet.' : `${file} contains 32 bytes.`);
  } catch (error) {
    return problem(
      `${file} cannot be used: ${(error as Error).message}.`,
      'Restore the file from your copy. It contains 32 bytes in base64 or hexadecimal.',
    );
  }
};

export const checkEncryptionKey = async (
  { auth, storage }: Settings,
  keys: Pick<EncryptionKeyStorage, 'find'>,
): Promise<Outcome> => {
  const known = await keys.find();
  const sealer = await findSealer(auth.encryptionKey, storage.dataDir);
  if (known === undefined) return ok('Nothing in the database is encrypted yet.');
  if (sealer?.keyId === known) return ok('The encryption key is that of the secrets in the database.');
  return problem(
    `The secrets in the database are encrypted with key ${known}, and this installation has ${sealer === undefined ? 'no key' : `key ${sealer.keyId}`}.`,
    `Set SVC_ENCRYPTION_KEY to the key of the other servers, or restore encryption.key in ${storage.dataDir}.`,
  );
};
