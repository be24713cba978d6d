// Transactions of one workspace. Row level security hides the rows of all other workspaces, even when a statement has no condition
// on the workspace.
import type { Database, Transactions } from './database.ts';
import { statement } from './statement.ts';

export const enter = statement('select enter_tenant($1)');
export const enterLimited = statement(`select enter_tenant($1), set_config('statement_timeout', $2, true)`);

/** Runs `work` in a transaction that sees the rows of one workspace only. `statementMs`: time limit of each statement. */
export const asTenant = <T>(
  db: Transactions,
  tenant_id: string,
  work: (tx: Database) => Promise<T>,
  { statementMs }: { statementMs?: number } = {},
): Promise<T> =>
  db.transact(async (tx) => {
    if (statementMs === undefined) await tx.query(enter, [tenant_id]);
    else await tx.query(enterLimited, [tenant_id, String(Math.max(1, Math.ceil(statementMs)))]);
    return work(tx);
  });
