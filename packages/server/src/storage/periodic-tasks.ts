// Leases on periodic tasks (table `periodic_tasks`), so that one node at a time performs each task. Every claim increases the task's lease
// token; only the holder of the newest token can renew or finish the task.
import type { Database } from './postgres/database.ts';
import type { Lease } from './postgres/lease.ts';
import { statement } from './postgres/statement.ts';

export const statements = {
  register: statement('insert into periodic_tasks (name) select unnest($1::text[]) on conflict do nothing'),
  claim: statement<Lease>(`with due as (
        select t.name from periodic_tasks t
        where t.name = any ($1) and t.next_at <= now() and (t.lease_until is null or t.lease_until <= now())
        for update skip locked
      )
      update periodic_tasks t set lease_token = t.lease_token + 1, lease_until = now() + $2 * interval '1 ms'
      from due where t.name = due.name
      returning t.name as id, t.lease_token`),
  renew: statement<{ name: string }>(`update periodic_tasks set lease_until = now() + $3 * interval '1 ms'
      where (name, lease_token) in (select * from unnest($1::text[], $2::bigint[])) returning name`),
  hasten: statement('update periodic_tasks set next_at = now() where name = $1 and next_at > now()'),
  finish: statement(`update periodic_tasks set lease_until = null, next_at = now() + $3 * interval '1 ms'
      where name = $1 and lease_token = $2`),
};

export type PeriodicTaskStorage = ReturnType<typeof periodicTaskStorage>;

export const periodicTaskStorage = (db: Database) => ({
  /** A task that is not stored yet is due at once. */
  async register(names: string[]): Promise<void> {
    await db.query(statements.register, [names]);
  },

  /** Claims the named tasks that are due and have no valid lease. */
  claim: (names: string[], leaseMs: number): Promise<Lease[]> => db.query(statements.claim, [names, leaseMs]),

  /** Returns the ids of the leases that are still valid; the others were claimed again. */
  async renew(leases: readonly Lease[], leaseMs: number): Promise<ReadonlySet<string>> {
    const ids = leases.map(({ id }) => id);
    const tokens = leases.map(({ lease_token }) => lease_token);
    const rows = await db.query(statements.renew, [ids, tokens, leaseMs]);
    return new Set(rows.map(({ name }) => name));
  },

  /** Makes the task due now, unless a process executes it. */
  async hasten(name: string): Promise<void> {
    await db.query(statements.hasten, [name]);
  },

  /** Ends a lease; the task is due again after that time. Changes nothing when the task was claimed again. */
  async finish({ id, lease_token }: Lease, afterMs: number): Promise<void> {
    await db.query(statements.finish, [id, lease_token, afterMs]);
  },
});
