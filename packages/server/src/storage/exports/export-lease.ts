import type { Lease } from '../postgres/lease.ts';

/** The subject of a lease: an export partition run, or an export whose manifest is due. */
export type ExportTask = 'run' | 'manifest';

export interface ExportLease extends Lease {
  tenant_id: string;
  task: ExportTask;
}
