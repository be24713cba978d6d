// Sessions of the console. Only hashes of their cookies are stored, and their credentials are encrypted.
import type { Database } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-text.ts';
import type { TicketMode } from './tickets.ts';
import { namedStatement, statement } from '../postgres/statement.ts';

export interface NewConsoleSession {
  hash: Buffer;
  mode: TicketMode;
  owner: Buffer;
  sealed: string;
  /** The User-Agent that signed in, of at most 512 characters. */
  browser: string | null;
}

/** A session as its owner sees it. Times are ISO 8601; `seen_at` is accurate to a minute. */
export interface ListedConsoleSession {
  hash: Buffer;
  browser: string | null;
  created_at: string;
  seen_at: string;
  expires_at: string;
}

export interface ConsoleSessionRow extends Omit<NewConsoleSession, 'hash' | 'browser'> {
  /** ISO 8601; the session ends then at the latest. */
  expires_at: string;
}

export const statements = {
  // The replaced session is deleted in the same statement, and so are the owner's oldest sessions beyond the limit.
  create: namedStatement<{ expires_at: string }>(`with gone as (
        delete from console_sessions where hash = :replaces::bytea or hash = any (array(
          select hash from console_sessions where owner = :owner::bytea
          order by seen_at desc, hash offset :count_max::int - 1))
      )
      insert into console_sessions (hash, mode, owner, sealed, browser, expires_at)
      values (:hash::bytea, :mode::text, :owner::bytea, :sealed::text, :browser::text, now() + make_interval(secs => :seconds::float8))
      returning ${exactTime('expires_at')} as expires_at`),
  use: statement<ConsoleSessionRow>(`with seen as (
        update console_sessions set seen_at = now()
        where hash = $1 and seen_at < now() - interval '1 minute'
          and seen_at > now() - make_interval(secs => $2) and expires_at > now()
      )
      select mode, owner, sealed, ${exactTime('expires_at')} as expires_at from console_sessions
      where hash = $1 and seen_at > now() - make_interval(secs => $2) and expires_at > now()`),
  listOpen: statement<{ hash: Buffer }>(`select hash from console_sessions
      where hash = any ($1::bytea[]) and seen_at > now() - make_interval(secs => $2) and expires_at > now()`),
  list: statement<ListedConsoleSession>(`select hash, browser, ${exactTime('created_at')} as created_at, ${exactTime('seen_at')} as seen_at,
        ${exactTime('expires_at')} as expires_at
      from console_sessions
      where owner = $1 and seen_at > now() - make_interval(secs => $2) and expires_at > now()
      order by seen_at desc, hash limit $3`),
  deleteOne: statement('delete from console_sessions where owner = $1 and hash = $2 returning hash'),
  delete: statement('delete from console_sessions where hash = $1'),
  deleteOf: statement('delete from console_sessions where owner = $1'),
  deleteExpired: statement<{ count: number }>(`with gone as (
        delete from console_sessions where hash = any (array(
          select hash from console_sessions
          where expires_at <= now() or seen_at <= now() - make_interval(secs => $2)
          limit $1 for update skip locked))
        returning 1
      )
      select count(*)::int as count from gone`),
};

export type ConsoleSessionStorage = ReturnType<typeof consoleSessionStorage>;

export const consoleSessionStorage = (db: Database) => ({
  /** Returns the time at which the session expires. Deletes the session `replaces`, and the owner's oldest sessions beyond `count_max`. */
  async create(
    session: NewConsoleSession,
    rules: { seconds: number; count_max: number; replaces: Buffer | null },
  ): Promise<string> {
    const values = statements.create.values({ ...session, ...rules });
    const [row] = await db.query(statements.create, values);
    if (row === undefined) throw new Error('The session was not stored');
    return row.expires_at;
  },

  /** Undefined when the session does not exist or has ended. Records that it was used. */
  async use(hash: Buffer, idleSeconds: number): Promise<ConsoleSessionRow | undefined> {
    return (await db.query(statements.use, [hash, idleSeconds]))[0];
  },

  /** Returns the hashes whose sessions are still open. */
  async listOpen(hashes: readonly Buffer[], idleSeconds: number): Promise<Buffer[]> {
    const rows = await db.query(statements.listOpen, [hashes, idleSeconds]);
    return rows.map(({ hash }) => hash);
  },

  /** Sessions of the owner, the most recently used first. */
  list(owner: Buffer, idleSeconds: number, limit: number): Promise<ListedConsoleSession[]> {
    return db.query(statements.list, [owner, idleSeconds, limit]);
  },

  /** False when the owner has no such session. */
  async deleteOne(owner: Buffer, hash: Buffer): Promise<boolean> {
    return (await db.query(statements.deleteOne, [owner, hash])).length > 0;
  },

  async delete(hash: Buffer): Promise<void> {
    await db.query(statements.delete, [hash]);
  },

  /** Deletes all sessions of the owner. */
  async deleteOf(owner: Buffer): Promise<void> {
    await db.query(statements.deleteOf, [owner]);
  },

  /** Returns how many were deleted. */
  async deleteExpired(limit: number, idleSeconds: number): Promise<number> {
    const [row] = await db.query(statements.deleteExpired, [limit, idleSeconds]);
    return row?.count ?? 0;
  },
});
