// API keys. Only hashes of keys are stored.
import type { ApiKey, KeyRole } from '@svc/contract';
import type { Database } from '../postgres/database.ts';
import { namedStatement, readStatement, statement } from '../postgres/statement.ts';

export interface NewKey {
  id: string;
  key_hash: Buffer;
  short_key: string;
  description: string;
  role: KeyRole;
  expires_at: string | null;
  workspaces: string[];
}

/** A key that is valid now. `ms_left`: time until it expires; null when it does not. */
export type LiveKey = Pick<ApiKey, 'id' | 'role' | 'workspaces'> & { ms_left: number | null };

export interface EnsuredKey {
  id: string;
  role: KeyRole;
  is_revoked: boolean;
}

/** Advisory lock of processes that create the first key. Every process uses this number, for this purpose only. */
const bootstrapLock = 7_301_955_205;

const columns = `k.id, k.short_key, k.description, k.role, k.created_at, k.expires_at, k.last_used_at,
  array(select w.tenant_id::text from api_key_workspaces w where w.key_id = k.id order by w.tenant_id) as workspaces`;

export const statements = {
  create: namedStatement<ApiKey>(`with made as (
        insert into api_keys (id, key_hash, short_key, description, role, expires_at, bootstrap)
        values (:id, :key_hash, :short_key, :description, :role, :expires_at, :bootstrap)
        on conflict (key_hash) do nothing returning *
      ), bound as (
        insert into api_key_workspaces (key_id, tenant_id) select made.id, t from made, unnest(:workspaces::uuid[]) t
      )
      select k.id, k.short_key, k.description, k.role, k.created_at, k.expires_at, k.last_used_at,
        :workspaces::text[] as workspaces
      from made k`),
  use: statement<LiveKey>(`with used as (
        update api_keys set last_used_at = now()
        where key_hash = $1 and revoked_at is null and (last_used_at is null or last_used_at < now() - interval '1 minute')
      )
      select k.id, k.role, extract(epoch from k.expires_at - now())::float8 * 1000 as ms_left,
        array(select w.tenant_id::text from api_key_workspaces w where w.key_id = k.id order by w.tenant_id) as workspaces
      from api_keys k
      where k.key_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`),
  list: readStatement<ApiKey>(`select ${columns} from api_keys k
      where k.revoked_at is null and ($1::uuid is null or exists (
        select from api_key_workspaces w where w.key_id = k.id and w.tenant_id = $1))
        and ($2::uuid[] is null or not exists (
          select from api_key_workspaces w where w.key_id = k.id and w.tenant_id <> all ($2)))
      order by k.created_at, k.id limit 1000`),
  revoke: statement<ApiKey>(`with gone as (
        update api_keys set revoked_at = now()
        where id = $1 and revoked_at is null and ($2::uuid[] is null or not exists (
          select from api_key_workspaces w where w.key_id = $1 and w.tenant_id <> all ($2)))
        returning *
      ), rung as (select pg_notify('svc', 'k:' || id) from gone)
      select ${columns} from gone k left join rung on true`),
  rebind:
    statement(`insert into api_key_workspaces (key_id, tenant_id) select id, $2 from api_keys where key_hash = $1
      on conflict do nothing`),
  // A key that was revoked manually keeps `current`, so that a restart does not restore it.
  replace: statement(`with gone as (
        update api_keys set revoked_at = now(), bootstrap = 'replaced'
        where bootstrap = 'current' and revoked_at is null and key_hash <> $1 returning id
      )
      select pg_notify('svc', 'k:' || id) from gone`),
  restore: statement(`with back as (
        update api_keys
        set bootstrap = 'current', revoked_at = null
        where key_hash = $1 and bootstrap = 'replaced' returning id
      )
      select pg_notify('svc', 'k:' || id) from back`),
  bootstrapState: statement<EnsuredKey>(
    'select id, role, revoked_at is not null as is_revoked from api_keys where key_hash = $1',
  ),
  bootstrapLive: statement<{ id: string }>(
    `select id from api_keys where bootstrap = 'current' and revoked_at is null limit 100`,
  ),
  any: statement<{ any: boolean }>('select exists (select from api_keys) as any'),
  lock: statement(`select pg_advisory_xact_lock(${bootstrapLock})`),
  workspace: statement(
    'insert into workspaces (id, display_name) values ($1, $2) on conflict (id) do nothing',
  ),
};

export type ApiKeyStorage = ReturnType<typeof apiKeyStorage>;

const create = async (
  db: Database,
  key: NewKey,
  bootstrap: 'current' | null = null,
): Promise<ApiKey | undefined> => {
  const values = statements.create.values({ ...key, bootstrap });
  return (await db.query(statements.create, values))[0];
};

export const apiKeyStorage = (db: Database) => ({
  /** Undefined when this key exists already. Throws when a workspace does not exist. */
  create: (key: NewKey): Promise<ApiKey | undefined> => create(db, key),

  /** The valid key with this hash; records that it was used. */
  async use(key_hash: Buffer): Promise<LiveKey | undefined> {
    return (await db.query(statements.use, [key_hash]))[0];
  },

  /** Up to 1,000 keys that are not revoked: those of a workspace that have access only to workspaces in `within`, or all keys. */
  list: (of: { tenant_id: string; within: string[] } | null): Promise<ApiKey[]> =>
    db.query(statements.list, [of?.tenant_id ?? null, of?.within ?? null]),

  /** Revokes a key and notifies every node. Undefined when no such key exists whose workspaces are all in `within` (any, when null). */
  async revoke(id: string, within: string[] | null): Promise<ApiKey | undefined> {
    return (await db.query(statements.revoke, [id, within]))[0];
  },

  /**
   * Creates the workspace and the key of the setting where they are missing, and revokes the setting's earlier keys. Idempotent. Returns
   * the stored key: a key that was created manually keeps its role, and a key that was revoked manually stays revoked.
   */
  ensure: (key: NewKey, workspace: { id: string; display_name: string }): Promise<EnsuredKey> =>
    db.transact(async (tx) => {
      await tx.query(statements.lock, []);
      await tx.query(statements.workspace, [workspace.id, workspace.display_name]);
      await tx.query(statements.replace, [key.key_hash]);
      await create(tx, key, 'current');
      await tx.query(statements.restore, [key.key_hash]);
      await tx.query(statements.rebind, [key.key_hash, workspace.id]);
      const [ensured] = await tx.query(statements.bootstrapState, [key.key_hash]);
      if (ensured === undefined) throw new Error('The API key was not stored');
      return ensured;
    }),

  /** Ids of valid keys that the setting created. */
  async liveOfSetting(): Promise<string[]> {
    return (await db.query(statements.bootstrapLive, [])).map(({ id }) => id);
  },

  /**
   * Creates the first workspace and the first key, if no key has ever existed. `keep` runs in the same transaction, before the commit.
   * Returns whether the key was created.
   */
  createFirst: (
    key: NewKey,
    workspace: { id: string; display_name: string },
    keep: () => Promise<void>,
  ): Promise<boolean> =>
    db.transact(async (tx) => {
      if ((await tx.query(statements.any, []))[0]?.any) return false;
      await tx.query(statements.lock, []);
      if ((await tx.query(statements.any, []))[0]?.any) return false;
      await tx.query(statements.workspace, [workspace.id, workspace.display_name]);
      await create(tx, key);
      await keep();
      return true;
    }),
});
