// The key that encrypts secrets is the one of the secrets in the database.
import { findSealer } from '../../auth/sealed-users/encryption-key.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { EncryptionKeyStorage } from '../../storage/auth/encryption-keys.ts';
import { ok, type Outcome, problem } from './finding.ts';

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
