// Leases on exports, for workers and exporters.
import type { Database } from '../postgres/database.ts';
import type { Lease } from '../postgres/lease.ts';
import type { Statement } from '../postgres/statement.ts';

/** The subject of a lease: an export partition run, or an export whose manifest is due. */
export type ExportTask = 'run' | 'manifest';

export interface ExportLease extends Lease {
  tenant_id: string;
  task: ExportTask;
}

/** The first parameters of a statement for the holder of a lease. */
export const leaseValues = ({ tenant_id, id, lease_token }: ExportLease): unknown[] => [
  tenant_id,
  id,
  lease_token,
];

/** Executes a statement that returns whether it was carried out. */
export const isDone = async (
  db: Database,
  statement: Statement<{ done: boolean }>,
  values: readonly unknown[],
): Promise<boolean> => (await db.query(statement, values))[0]?.done === true;
