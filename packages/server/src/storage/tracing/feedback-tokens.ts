// Links for feedback. The id is the secret, so a lookup by id needs no workspace.
import type { Database } from '../postgres/database.ts';
import { exactTime, fromExactText, toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { statement } from '../postgres/statement.ts';

export interface FeedbackTokenRow {
  id: string;
  expires_at: string;
}

export interface TokenTarget {
  tenant_id: string;
  run_id: string;
  key: string;
}

/** Expired links that one creation deletes. */
const deletedAtOnce = 100;

const columns = `id, ${exactTime('expires_at')} as expires_at`;

export const statements = {
  deleteExpired: statement(`delete from feedback_tokens where tenant_id = $1 and id = any (array(
      select id from feedback_tokens where tenant_id = $1 and expires_at <= now() order by expires_at limit ${deletedAtOnce}))`),
  // Clients may choose the id, and repeat their request: then the link is the one that exists.
  create:
    statement<FeedbackTokenRow>(`with given as (select t.id, t.key from unnest($2::uuid[], $4::text[]) as t (id, key)), made as (
        insert into feedback_tokens (tenant_id, id, run_id, key, expires_at)
        select $1, g.id, $3, g.key, $5 from given g on conflict do nothing returning id, expires_at
      )
      select ${columns} from made union all
      select f.id, ${exactTime('f.expires_at')} from feedback_tokens f join given g using (id, key) where f.tenant_id = $1 and f.run_id = $3`),
  list: statement<FeedbackTokenRow>(`select ${columns} from feedback_tokens where tenant_id = $1 and run_id = $2 and feedback_tokens.expires_at > now()
      order by created_at desc, id desc limit $3 offset $4`),
  find: statement<TokenTarget>(
    'select tenant_id, run_id, key from feedback_tokens where id = $1 and expires_at > now()',
  ),
};

export type FeedbackTokenStorage = ReturnType<typeof feedbackTokenStorage>;

export const feedbackTokenStorage = (db: Database) => ({
  /** Creates the links, of a trace run, in any order. */
  create: (
    { tenant_id, run_id, expires_at }: Omit<TokenTarget, 'key'> & { expires_at: string },
    tokens: readonly { id: string; key: string }[],
  ): Promise<FeedbackTokenRow[]> =>
    asTenant(db, tenant_id, async (tx) => {
      await tx.query(statements.deleteExpired, [tenant_id]);
      const ids = tokens.map(({ id }) => id);
      const keys = tokens.map(({ key }) => toExactText(key));
      return tx.query(statements.create, [tenant_id, ids, run_id, keys, expires_at]);
    }),

  /** Newest first. */
  list: (
    tenant_id: string,
    run_id: string,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<FeedbackTokenRow[]> =>
    asTenant(db, tenant_id, (tx) => tx.query(statements.list, [tenant_id, run_id, limit, offset])),

  /** Undefined when the link does not exist or has expired. */
  async find(id: string): Promise<TokenTarget | undefined> {
    const [row] = await db.query(statements.find, [id]);
    return row && { ...row, key: fromExactText(row.key) };
  },
});
