import type { Lease } from '../postgres/lease.ts';

/** What a lease is held on: an export run, or an export whose manifest is to be written. */
export type ExportTask = 'run' | 'manifest';

export interface ExportLease extends Lease {
  tenant_id: string;
  task: ExportTask;
}
