import { randomUUID } from 'node:crypto';
import type { ApiKey, KeyRole, NewApiKey } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { Grant } from '../principal/caller.ts';
import type { ApiKeyStorage, NewKey } from '../../storage/auth/api-keys.ts';
import { hashKey, type KeyText, newKeyText } from './key-text.ts';

export interface KeyOptions {
  description: string;
  role: KeyRole;
  personal: boolean;
  /** Not empty. */
  workspaces: string[];
  expires_at: string | null;
}

/** A key as it is stored; its text is nowhere in there. */
export const toNewKey = (
  { text, prefix }: KeyText,
  { description, role, workspaces, expires_at }: Omit<KeyOptions, 'personal'>,
): NewKey => ({
  id: randomUUID(),
  key_hash: hashKey(text),
  short_key: prefix,
  description,
  role,
  expires_at,
  workspaces,
});

export class KeyService {
  readonly #keys: ApiKeyStorage;

  constructor(keys: ApiKeyStorage) {
    this.#keys = keys;
  }

  /** The text of the key is in the answer, and nowhere else. */
  async create(options: KeyOptions): Promise<NewApiKey> {
    if (options.description.includes('\0'))
      throw invalid(['body', 'description'], 'must not hold the character U+0000');
    const key = newKeyText(options.personal ? 'personal' : 'service');
    const made = await this.#keys.create(toNewKey(key, options));
    if (made === undefined) throw new Problem('conflict', 'There is such a key');
    return { ...made, key: key.text };
  }

  /** Keys of the workspace. One that reaches further than the key that asks is left out: it would name other workspaces. */
  list = ({ tenant_id, workspaces }: Pick<Grant, 'tenant_id' | 'workspaces'>): Promise<ApiKey[]> =>
    this.#keys.list({ tenant_id, within: [...workspaces] });

  /** A key that reaches further than the one that asks is not its to revoke. */
  async revoke(key_id: string, grant: Pick<Grant, 'workspaces'>): Promise<ApiKey> {
    const gone = await this.#keys.revoke(key_id, [...grant.workspaces]);
    if (gone === undefined) throw notFound('API key', key_id);
    return gone;
  }
}
