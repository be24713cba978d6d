// One workspace at a time: what is asked inside sees no row of another, whatever the statement forgets.
import type { Database } from './database.ts';

const enter = { name: 'tenant_enter', text: 'select enter_tenant($1)' };

/** Runs in a transaction that sees the rows of one workspace only. */
export const asTenant = <T>(
  db: Database,
  tenant_id: string,
  work: (tx: Database) => Promise<T>,
): Promise<T> =>
  db.transact(async (tx) => {
    await tx.query(enter, [tenant_id]);
    return work(tx);
  });
