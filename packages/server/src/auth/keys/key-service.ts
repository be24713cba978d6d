import { randomUUID } from 'node:crypto';
import type { ApiKey, KeyRole, keyRoutes, NewApiKey } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import { grantOf, type KeyGrant } from '../principal/caller.ts';
import type { ApiKeyStorage, NewKey } from '../../storage/auth/api-keys.ts';
import type { KeyAuthenticator } from './key-authenticator.ts';
import { hashKey, type KeyText, newKeyText } from './key-text.ts';
import type { Handlers } from '../../api/handlers.ts';

export interface KeyOptions {
  description: string;
  role: KeyRole;
  personal: boolean;
  /** Not empty. */
  workspaces: string[];
  expires_at: string | null;
}

/** The stored form of a key, which does not contain its text. */
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

  /** Creates a key. Only this response contains its text. */
  async create(options: KeyOptions): Promise<NewApiKey> {
    if (options.description.includes('\0'))
      throw invalid(['body', 'description'], 'must not contain the character U+0000');
    const key = newKeyText(options.personal ? 'personal' : 'service');
    const made = await this.#keys.create(toNewKey(key, options));
    if (made === undefined) throw new Problem('conflict', 'This key exists already');
    return { ...made, key: key.text };
  }

  /** Keys of the workspace. Keys with access to workspaces beyond those of the caller are left out, since they would reveal their ids. */
  list = ({ tenant_id, workspaces }: Pick<KeyGrant, 'tenant_id' | 'workspaces'>): Promise<ApiKey[]> =>
    this.#keys.list({ tenant_id, within: [...workspaces] });

  /** Revokes a key whose workspaces are all among the caller's. */
  async revoke(key_id: string, grant: Pick<KeyGrant, 'workspaces'>): Promise<ApiKey> {
    const gone = await this.#keys.revoke(key_id, [...grant.workspaces]);
    if (gone === undefined) throw notFound('API key', key_id);
    return gone;
  }
}

/** `authenticator`: of this process. It accepts a revoked key no more when the response is sent; those of other processes are notified. */
export const keyHandlers = (
  keys: KeyService,
  authenticator: Pick<KeyAuthenticator, 'forget'>,
): Handlers<typeof keyRoutes> => ({
  listKeys: (_, call) => keys.list(grantOf(call.caller)),

  createKey: ({ body }, call) => {
    const { tenant_id, workspaces: reached } = grantOf(call.caller);
    const workspaces = [...new Set(body.workspaces ?? [tenant_id])];
    if (!workspaces.every((id) => reached.includes(id))) {
      throw new Problem(
        'forbidden',
        'A new key can only have access to workspaces that your key has access to.',
      );
    }
    return keys.create({ ...body, workspaces, expires_at: body.expires_at ?? null });
  },

  revokeKey: async ({ params }, call) => {
    const revoked = await keys.revoke(params.key_id, grantOf(call.caller));
    authenticator.forget(revoked.id);
    return revoked;
  },
});
