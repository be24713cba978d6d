// The first key: given by the settings, or made when the server has none, and then kept where only its owner can read it.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiKeyStorage } from '../../storage/auth/api-keys.ts';
import { toNewKey } from './key-service.ts';
import { newKeyText } from './key-text.ts';
import { defaultWorkspace } from '../workspaces/default-workspace.ts';

export interface BootstrapOptions {
  dataDir: string;
  /** Both undefined: made. */
  key: string | undefined;
  workspaceId: string | undefined;
  /** Sentences for the operator. */
  warn: (text: string) => void;
}

export interface FirstKey {
  key: string;
  workspace_id: string;
  /** Where the key can be read again. */
  file: string;
}

const setting = 'SVC_BOOTSTRAP_API_KEY';
const display_name = defaultWorkspace;
/** The workspace of a given key that names none; the same whenever it is asked for. */
const givenWorkspace = '00000000-0000-4000-8000-000000000001';

/** Returns the key when it was made just now. */
export const bootstrap = async (
  keys: ApiKeyStorage,
  { dataDir, key: given, workspaceId, warn }: BootstrapOptions,
): Promise<FirstKey | undefined> => {
  if (given !== undefined) {
    await ensureGiven(keys, given, workspaceId ?? givenWorkspace, warn);
    return undefined;
  }
  for (const id of await keys.liveOfSetting())
    warn(
      `${setting} is not set, and API key ${id}, which it made, still holds with the role admin: svc keys revoke ${id} ends it.`,
    );
  const id = workspaceId ?? randomUUID();
  const made = newKeyText('service');
  const options = { description: 'made at the first start', role: 'admin', expires_at: null } as const;
  const row = toNewKey(made, { ...options, workspaces: [id] });
  const file = join(dataDir, 'admin-key');
  const isMade = await keys.createFirst(row, { id, display_name }, async () => {
    await mkdir(dataDir, { recursive: true });
    // One from a database that is no more may be there, and keep the mode that it has.
    await writeFile(file, `${made.text}\n`, { mode: 0o600 });
    await chmod(file, 0o600);
  });
  return isMade ? { key: made.text, workspace_id: id, file } : undefined;
};

/** The key of the setting, and no earlier one. Nothing of it is shown: the name of the setting identifies it. */
const ensureGiven = async (
  keys: ApiKeyStorage,
  text: string,
  workspace_id: string,
  warn: (text: string) => void,
): Promise<void> => {
  const options = { description: setting, role: 'admin', expires_at: null } as const;
  const row = toNewKey({ text, prefix: setting }, { ...options, workspaces: [workspace_id] });
  const { id, role, is_revoked } = await keys.ensure(row, { id: workspace_id, display_name });
  if (is_revoked)
    warn(`The key of ${setting} was revoked (API key ${id}) and does not hold: set another one.`);
  else if (role !== 'admin')
    warn(
      `The key of ${setting} is API key ${id}, which was made with the role ${role}: set another one for an admin.`,
    );
};
