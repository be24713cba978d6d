// Leases on periodic tasks (table `duties`), so that one node at a time performs each task. Every claim increases the task's lease
// token; only the holder of the newest token can renew or finish the task.
import type { Database } from './postgres/database.ts';

export interface PeriodicTaskLease {
  name: string;
  lease_token: number;
}

const statements = {
  register: {
    name: 'duties_register',
    text: 'insert into duties (name) select unnest($1::text[]) on conflict do nothing',
  },
  claim: {
    name: 'duties_claim',
    text: `with due as (
        select d.name from duties d
        where d.name = any ($1) and d.next_at <= now() and (d.lease_until is null or d.lease_until <= now())
        for update skip locked
      )
      update duties d set lease_token = d.lease_token + 1, lease_until = now() + $2 * interval '1 ms'
      from due where d.name = due.name
      returning d.name, d.lease_token`,
  },
  renew: {
    name: 'duties_renew',
    text: `update duties set lease_until = now() + $3 * interval '1 ms'
      where name = $1 and lease_token = $2 returning name`,
  },
  finish: {
    name: 'duties_finish',
    text: `update duties set lease_until = null, next_at = now() + $3 * interval '1 ms'
      where name = $1 and lease_token = $2`,
  },
};

export type PeriodicTaskStorage = ReturnType<typeof periodicTaskStorage>;

export const periodicTaskStorage = (db: Database) => ({
  /** Inserts tasks that are not in the table yet. A new task is due at once. */
  async register(names: string[]): Promise<void> {
    await db.query(statements.register, [names]);
  },

  /** Claims the tasks that are due and have no valid lease. */
  claim: (names: string[], leaseMs: number): Promise<PeriodicTaskLease[]> =>
    db.query<PeriodicTaskLease>(statements.claim, [names, leaseMs]),

  /** False when another node has claimed the task since. */
  async renew({ name, lease_token }: PeriodicTaskLease, leaseMs: number): Promise<boolean> {
    return (await db.query(statements.renew, [name, lease_token, leaseMs])).length > 0;
  },

  /** Ends the lease; the task is due again after `afterMs`. Does nothing when another node has claimed the task since. */
  async finish({ name, lease_token }: PeriodicTaskLease, afterMs: number): Promise<void> {
    await db.query(statements.finish, [name, lease_token, afterMs]);
  },
});
