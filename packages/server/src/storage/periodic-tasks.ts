// Chores that recur, and who does them at the moment. Each claim has a token; only its holder may say more.
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
  /** A duty that nobody knew is due at once. */
  async register(names: string[]): Promise<void> {
    await db.query(statements.register, [names]);
  },

  /** Those of the duties that are due and that nobody does. */
  claim: (names: string[], leaseMs: number): Promise<PeriodicTaskLease[]> =>
    db.query<PeriodicTaskLease>(statements.claim, [names, leaseMs]),

  /** False when somebody else has claimed the duty since. */
  async renew({ name, lease_token }: PeriodicTaskLease, leaseMs: number): Promise<boolean> {
    return (await db.query(statements.renew, [name, lease_token, leaseMs])).length > 0;
  },

  /** Gives the duty back; it is due again after that time. Nothing happens when somebody else has it. */
  async finish({ name, lease_token }: PeriodicTaskLease, afterMs: number): Promise<void> {
    await db.query(statements.finish, [name, lease_token, afterMs]);
  },
});
