// Tickets for WebSockets. Only hashes of tickets are stored.
import type { Database } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-text.ts';
import { namedStatement, statement } from '../postgres/statement.ts';

export type TicketMode = 'custom' | 'keys' | 'anonymous';

/** The caller who created the ticket. */
export interface TicketHolder {
  mode: TicketMode;
  counted_as: string | null;
  sealed_user: string | null;
}

export interface NewTicket extends TicketHolder {
  hash: Buffer;
  caller: Buffer;
}

export const statements = {
  // Tickets that are created at the same time do not count each other: a caller may exceed the limit by as many.
  create: namedStatement<{
    expires_at: string;
  }>(`insert into tickets (hash, mode, caller, counted_as, sealed_user, expires_at)
      select :hash::bytea, :mode::text, :caller::bytea, :counted_as::text, :sealed_user::text,
        now() + make_interval(secs => :seconds::int)
      where (select count(*) from (
          select from tickets where caller = :caller::bytea and expires_at > now() limit :count_max::int
        ) live) < :count_max::int
      returning ${exactTime('expires_at')} as expires_at`),
  redeem: statement<TicketHolder & { is_valid: boolean }>(
    `delete from tickets where hash = $1 returning mode, counted_as, sealed_user, expires_at > now() as is_valid`,
  ),
  deleteExpired: statement<{ count: number }>(`with gone as (
        delete from tickets where hash = any (array(
          select hash from tickets where expires_at <= now() order by expires_at limit $1 for update skip locked))
        returning 1
      )
      select count(*)::int as count from gone`),
};

export type TicketStorage = ReturnType<typeof ticketStorage>;

export const ticketStorage = (db: Database) => ({
  /** Returns the time at which the ticket expires; undefined when the caller has `count_max` valid tickets. */
  async create(
    ticket: NewTicket,
    { seconds, count_max }: { seconds: number; count_max: number },
  ): Promise<string | undefined> {
    const values = statements.create.values({ ...ticket, seconds, count_max });
    const [row] = await db.query(statements.create, values);
    return row?.expires_at;
  },

  /** Deletes the ticket. Undefined when it does not exist or has expired. */
  async redeem(hash: Buffer): Promise<TicketHolder | undefined> {
    const [row] = await db.query(statements.redeem, [hash]);
    return row?.is_valid === true ? row : undefined;
  },

  /** Returns how many were deleted. */
  async deleteExpired(limit: number): Promise<number> {
    const [row] = await db.query(statements.deleteExpired, [limit]);
    return row?.count ?? 0;
  },
});
