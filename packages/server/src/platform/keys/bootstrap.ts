// The first key: given by the settings, or made when the server has none, and then kept where only its owner can read it.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiKeyStorage } from '../../storage/api-keys.ts';
import { toNewKey } from './key-service.ts';
import { newKeyText } from './key-text.ts';
import { defaultWorkspace } from '../workspaces/default-workspace.ts';

export interface BootstrapOptions {
  dataDir: string;
  /** Both undefined: made. */
  key: string | undefined;
  workspaceId: string | undefined;
}

export interface FirstKey {
  key: string;
  workspace_id: string;
  /** Where the key can be read again. */
  file: string;
}

const display_name = defaultWorkspace;
/** The workspace of a given key that names none; the same whenever it is asked for. */
const givenWorkspace = '00000000-0000-4000-8000-000000000001';

/** Returns the key when it was made just now. */
export const bootstrap = async (
  keys: ApiKeyStorage,
  { dataDir, key: given, workspaceId }: BootstrapOptions,
): Promise<FirstKey | undefined> => {
  const id = workspaceId ?? (given === undefined ? randomUUID() : givenWorkspace);
  const key = given ?? newKeyText('service');
  const description = given === undefined ? 'made at the first start' : 'SVC_BOOTSTRAP_API_KEY';
  const row = toNewKey(key, { description, role: 'admin', workspaces: [id], expires_at: null });
  if (given !== undefined) {
    await keys.ensure(row, { id, display_name });
    return undefined;
  }
  const file = join(dataDir, 'admin-key');
  const isMade = await keys.createFirst(row, { id, display_name }, async () => {
    await mkdir(dataDir, { recursive: true });
    // One from a database that is no more may be there, and keep the mode that it has.
    await writeFile(file, `${key}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
  });
  return isMade ? { key, workspace_id: id, file } : undefined;
};
