// Operations of an exporter under its lease. The states and the order of locks are described in
// schema/migrations/0005-exports.sql.
import type { Database } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-text.ts';
import { type ExportLease, isDone, leaseValues } from './export-lease.ts';
import { readStatement, statement } from '../postgres/statement.ts';

/** A file that was begun and is not committed. */
export interface PendingFile {
  target_cursor: string;
  key: string;
  rows: number;
  bytes: number;
  raw_bytes: number;
  sha256: string;
  min_start_time: string;
  max_start_time: string;
}

/** An entry of the manifest. */
export interface ManifestFile {
  key: string;
  rows: number;
  bytes: number;
  sha256: string;
  min_start_time: string;
  max_start_time: string;
  window_start: string;
  window_end: string;
  number: number;
}

/** Updates the partition run with the newest lease token. False when another worker has it, or it has ended. */
const updateRun = (change: string, condition = 'true') =>
  statement<{ done: boolean }>(`with changed as (
      update export_runs r set ${change}
      where r.tenant_id = $1 and r.id = $2 and r.lease_token = $3 and r.status = 'RUNNING' and ${condition} returning 1
    )
    select exists (select from changed) as done`);

export const statements = {
  startPartitionRun: updateRun('attempt_at = coalesce(r.attempt_at, now())'),
  completeManifest: statement<{ done: boolean }>(`select complete_export($1, $2, $3, $4) as done`),
  // A file that was begun must be finished first, with the rows up to its cursor.
  begin: updateRun(
    'pending_upload = $4::jsonb, heartbeat_at = now(), updated_at = now()',
    `r.lease_until > clock_timestamp()
      and (r.pending_upload is null or r.pending_upload ->> 'target_cursor' = $4::jsonb ->> 'target_cursor')`,
  ),
  commit: statement<{ done: boolean }>(`select commit_export_file($1, $2, $3, $4) as done`),
  skip: updateRun(
    'cursor = $4, pending_upload = null, heartbeat_at = now(), updated_at = now()',
    `r.lease_until > clock_timestamp()
      and case when r.pending_upload is null then r.cursor else r.pending_upload ->> 'target_cursor' end = $4`,
  ),
  holdsPartitionRun: readStatement(`select id from export_runs
      where tenant_id = $1 and id = $2 and lease_token = $3 and status = 'RUNNING' and lease_until > now()`),
  holdsManifest: readStatement(`select id from exports
      where tenant_id = $1 and id = $2 and lease_token = $3 and status = 'RUNNING' and lease_until > now()`),
  endedOtherwise: readStatement(
    `select id from exports where tenant_id = $1 and id = $2 and status in ('FAILED', 'CANCELLED', 'TIMEDOUT')`,
  ),
  files:
    readStatement<ManifestFile>(`select f.key, f.rows, f.bytes, f.sha256, ${exactTime('f.min_start_time')} as min_start_time, ${exactTime('f.max_start_time')} as max_start_time,
        ${exactTime('r.window_start')} as window_start, ${exactTime('r.window_end')} as window_end, f.number
      from export_runs r join export_files f on f.tenant_id = r.tenant_id and f.run_id = r.id
      where r.tenant_id = $1 and r.export_id = $2
        and ($3::timestamptz is null or (r.window_start, f.number) > ($3::timestamptz, $4::integer))
      order by r.window_start, f.number limit $5`),
};

export type ExportStepStorage = ReturnType<typeof exportStepStorage>;

export const exportStepStorage = (db: Database) => ({
  /** Starts the attempt's time. Idempotent. False when the lease belongs to another worker. */
  startPartitionRun: (lease: ExportLease): Promise<boolean> =>
    isDone(db, statements.startPartitionRun, leaseValues(lease)),

  /** Records a file before its upload. False when the lease has ended; the exporter must stop. */
  beginFile: (lease: ExportLease, pending: PendingFile): Promise<boolean> =>
    isDone(db, statements.begin, [...leaseValues(lease), JSON.stringify(pending)]),

  /** Records that the file is uploaded, and advances the cursor. Idempotent. */
  commitFile: (lease: ExportLease, key: string): Promise<boolean> =>
    isDone(db, statements.commit, [...leaseValues(lease), key]),

  /** Used instead of commitFile when all rows of the file were deleted after it was begun. Idempotent. */
  skipFile: (lease: ExportLease, target_cursor: string): Promise<boolean> =>
    isDone(db, statements.skip, [...leaseValues(lease), target_cursor]),

  async holds(lease: ExportLease): Promise<boolean> {
    const statement = lease.task === 'run' ? statements.holdsPartitionRun : statements.holdsManifest;
    return (await db.query(statement, leaseValues(lease))).length > 0;
  },

  /** Completes the export after its manifest was written. Idempotent. */
  completeExport: (lease: ExportLease, manifest: string): Promise<boolean> =>
    isDone(db, statements.completeManifest, [...leaseValues(lease), manifest]),

  /** True when the export of a manifest has failed, timed out or was cancelled. */
  hasEndedOtherwise: async ({ tenant_id, id }: ExportLease): Promise<boolean> =>
    (await db.query(statements.endedOtherwise, [tenant_id, id])).length > 0,

  /** Files of an export after one file, ordered by partition and number. */
  files: (
    tenant_id: string,
    export_id: string,
    after: Pick<ManifestFile, 'window_start' | 'number'> | null,
    limit: number,
  ): Promise<ManifestFile[]> =>
    db.query(statements.files, [
      tenant_id,
      export_id,
      after?.window_start ?? null,
      after?.number ?? null,
      limit,
    ]),
});
