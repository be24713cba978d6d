// Authenticates requests to the platform API: finds the key and its workspace. Keys are cached for a short time. Every node is
// notified of a revocation; if the notification is lost, the cache entry expires.
import type { KeyRole, Permission } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Authenticate, Caller, KeyGrant } from '../principal/caller.ts';
import type { ApiKeyStorage, LiveKey } from '../../storage/auth/api-keys.ts';
import { hashKey, isMistyped } from './key-text.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';

/** The permissions of each role. */
const permissionsOf: Readonly<Record<KeyRole, readonly Permission[]>> = {
  admin: ['ingest', 'read', 'write', 'admin'],
  editor: ['ingest', 'read', 'write'],
  viewer: ['read'],
  ingest: ['ingest'],
};

const cachedMs = 30_000;
/** Unknown keys are cached too, so that a tracer with a wrong key does not cause a query per request. */
const unknownMs = 5_000;
const entriesMax = 10_000;

interface Entry {
  key: LiveKey | undefined;
  untilMs: number;
}

export class KeyAuthenticator {
  readonly #keys: ApiKeyStorage;
  readonly #entries = new Map<string, Entry>();
  /** Incremented by forget(): the result of a query that began earlier may be outdated. */
  #forgotten = 0;

  constructor(keys: ApiKeyStorage) {
    this.#keys = keys;
  }

  /** Removes all entries, or those of one key, from the cache. */
  forget(key_id?: string): void {
    this.#forgotten++;
    for (const [hash, { key }] of this.#entries)
      if (key_id === undefined || key === undefined || key.id === key_id) this.#entries.delete(hash);
  }

  readonly authenticate: Authenticate = async (credentials): Promise<Caller> => {
    const sent = credentials.header('x-api-key');
    if (sent === undefined || sent === '') {
      throw new Problem('unauthenticated', 'The request needs an API key in the header X-API-Key.');
    }
    const key = isMistyped(sent) ? undefined : await this.#find(sent);
    if (key === undefined) {
      throw new Problem('unauthenticated', 'The API key is unknown, was revoked, or has expired.');
    }
    const workspace_id = workspaceOf(key, credentials.header('x-tenant-id'));
    const permissions = permissionsOf[key.role];
    const grant: KeyGrant = {
      key_id: key.id,
      workspace_id,
      get tenant_id() {
        if (workspace_id !== undefined) return workspace_id;
        throw new Problem(
          'bad_request',
          `The key has access to ${key.workspaces.length} workspaces: name one in the header X-Tenant-Id.`,
        );
      },
      workspaces: key.workspaces,
      role: key.role,
      permissions,
    };
    return { user: undefined, countedAs: key.id, grant };
  };

  async #find(sent: string): Promise<LiveKey | undefined> {
    const hash = hashKey(sent);
    const name = hash.toString('base64');
    const nowMs = performance.now();
    const entry = this.#entries.get(name);
    if (entry && entry.untilMs > nowMs) return entry.key;
    const before = this.#forgotten;
    const key = await this.#keys.use(hash);
    if (this.#forgotten !== before) return key;
    if (this.#entries.size >= entriesMax) this.#entries.clear();
    const forMs = key === undefined ? unknownMs : Math.min(cachedMs, key.ms_left ?? Infinity);
    this.#entries.set(name, { key, untilMs: nowMs + forMs });
    return key;
  }
}

/** Undefined when the request names no workspace, and the key has several. */
const workspaceOf = ({ workspaces }: LiveKey, requested: string | undefined): string | undefined => {
  if (requested === undefined || requested === '') return workspaces.length === 1 ? workspaces[0] : undefined;
  if (!isUuid(requested))
    throw new Problem('invalid', 'The header X-Tenant-Id must be the id of a workspace.');
  const tenant_id = requested.toLowerCase();
  if (!workspaces.includes(tenant_id)) {
    throw new Problem('forbidden', 'The key has no access to the workspace in X-Tenant-Id.');
  }
  return tenant_id;
};
