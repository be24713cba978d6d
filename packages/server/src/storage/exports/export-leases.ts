// Leases on export partition runs and manifests: claims, renewals, failures and releases by the worker. The states and the order of
// locks are described in schema/migrations/0005-exports.sql.
import { formatDuration } from '../../config/settings/units.ts';
import type { Database } from '../postgres/database.ts';
import { exactTime, toShownText } from '../postgres/exact-text.ts';
import { exportColumns, type ExportRow } from './export-row.ts';
import { type ExportLease, isDone, leaseValues } from './export-lease.ts';
import type { PendingFile } from './export-steps.ts';
import { readStatement, statement } from '../postgres/statement.ts';

/** Why an attempt failed. After `destination` a retry would fail too. */
export type FailureCause = 'error' | 'timeout' | 'destination';

export interface RetryRules {
  /** Number of attempts after the first. */
  retries: number;
  retryDelayMs: number;
}

/** Times are ISO 8601 with microseconds. */
export interface ClaimedExport {
  export: Omit<ExportRow, 'seconds'>;
  /** 0 for the first attempt. */
  retry_number: number;
}

export interface ClaimedPartitionRun extends ClaimedExport {
  lease: ExportLease;
  window_start: string;
  window_end: string;
  cursor: string | null;
  /** Number of files that are committed. */
  files: number;
  pending_upload: PendingFile | null;
}

export interface ClaimedManifest extends ClaimedExport {
  lease: ExportLease;
  completing_at: string;
}

export interface ClaimLimits {
  runsPerExport: number;
  exportsPerWorkspace: number;
}

export interface ExportTimes {
  /** Time limit of an export, from its start. */
  timeoutMs: number;
  /** Time limit of one attempt of a partition run, from the start of the exporter's work. */
  runTimeoutMs: number;
}

const ms = (place: string): string => `${place} * interval '1 ms'`;

/** When the attempt began; an exporter gets five minutes to start. */
const attemptBegan = `coalesce(r.attempt_at, r.claimed_at + interval '5 minutes')`;

export const statements = {
  claimPartitionRuns:
    statement(`select ${exportColumns}, r.id as run_id, r.lease_token as token, r.retry_number as tries, r.cursor, r.pending_upload,
        ${exactTime('r.window_start')} as since, ${exactTime('r.window_end')} as until,
        (select count(*) from export_files f where f.tenant_id = r.tenant_id and f.run_id = r.id) as files
      from claim_export_runs($1, ${ms('$2')}, $3, $4) r join exports e on e.tenant_id = r.tenant_id and e.id = r.export_id`),
  // The partition runs of the exports are all completed. A CTE, because a plan may execute a subquery once per row and would then lock
  // other rows each time.
  claimManifests: statement<ManifestClaim>(`with due as (
        select o.tenant_id, o.id from exports o
        where o.status = 'RUNNING' and o.completing_at is not null and o.lease_until is null and o.not_before <= now()
        order by o.completing_at limit $1 for no key update skip locked
      )
      update exports e set lease_token = e.lease_token + 1, lease_until = now() + ${ms('$2')}, updated_at = now()
      from due where e.tenant_id = due.tenant_id and e.id = due.id
      returning ${exportColumns}, e.lease_token as token, e.retry_number as tries, ${exactTime('e.completing_at')} as completing_at`),
  // Locks in the order of ids, as the functions that end an export do.
  renewPartitionRuns: statement(`with held as (
        select r.tenant_id, r.id from export_runs r
        join unnest($1::uuid[], $2::uuid[], $3::bigint[]) as l (tenant_id, id, lease_token)
          on r.tenant_id = l.tenant_id and r.id = l.id and r.lease_token = l.lease_token and r.status = 'RUNNING'
        order by r.id for update of r
      )
      update export_runs r set lease_until = now() + ${ms('$4')}, heartbeat_at = now() from held
      where r.tenant_id = held.tenant_id and r.id = held.id returning r.id`),
  renewManifests: statement(`with held as (
        select e.tenant_id, e.id from exports e
        join unnest($1::uuid[], $2::uuid[], $3::bigint[]) as l (tenant_id, id, lease_token)
          on e.tenant_id = l.tenant_id and e.id = l.id and e.lease_token = l.lease_token and e.status = 'RUNNING' and e.lease_until is not null
        order by e.id for no key update of e
      )
      update exports e set lease_until = now() + ${ms('$4')} from held
      where e.tenant_id = held.tenant_id and e.id = held.id returning e.id`),
  fail: {
    run: statement<{ status: string | null }>(
      `select fail_export_attempt($1, $2, $3, $4, $5, $6, ${ms('$7')}) as status`,
    ),
    manifest: statement<{ status: string | null }>(
      `select fail_export_manifest($1, $2, $3, $4, $5, $6, ${ms('$7')}) as status`,
    ),
  },
  requeue: {
    run: statement<{ done: boolean }>(
      `select requeue_export_run($1, $2, $3, $4, $5, $6, ${ms('$7')}) as done`,
    ),
    manifest: statement<{ done: boolean }>(
      `select requeue_export_manifest($1, $2, $3, $4, $5, $6, ${ms('$7')}) as done`,
    ),
  },
  completePartitionRun: statement<{ done: boolean }>(`select complete_export_run($1, $2, $3) as done`),
  lost: readStatement<ExportLease>(`(select r.tenant_id, r.id, r.lease_token, 'run' as task from export_runs r
        where r.status = 'RUNNING' and r.lease_until < now() order by r.lease_until limit $1)
      union all
      (select e.tenant_id, e.id, e.lease_token, 'manifest' as task from exports e
        where e.status = 'RUNNING' and e.lease_until < now() order by e.lease_until limit $1)`),
  late: readStatement<ExportLease>(`select r.tenant_id, r.id, r.lease_token, 'run' as task from exports e
      join export_runs r on r.tenant_id = e.tenant_id and r.export_id = e.id and r.status = 'RUNNING'
      where e.status = 'RUNNING' and ${attemptBegan} <= now() - ${ms('$1')} order by ${attemptBegan} limit $2`),
  overdue: readStatement<Overdue>(`select e.tenant_id, e.id from exports e
      where e.status = 'RUNNING' and e.started_at <= now() - ${ms('$1')} order by e.started_at limit $2`),
  timeOut: statement<{ done: boolean }>(`select time_out_export($1, $2, ${ms('$3')}) as done`),
  spawn: statement<{ count: number }>(`select spawn_exports(${ms('$1')}, $2, $3) as count`),
  state: readStatement<ExportQueueState>(`select
        (select count(*) from exports where status = 'CREATED')::integer as waiting_exports,
        (select count(*) from exports where status = 'RUNNING')::integer as running_exports,
        (select count(*) from exports where status = 'INTERVALSCHEDULED')::integer as schedules,
        (select count(*) from export_runs where status = 'CREATED')::integer as waiting_runs,
        (select count(*) from export_runs where status = 'RUNNING')::integer as running_runs,
        (select extract(epoch from now() - min(not_before))::float8 from export_runs where status = 'CREATED' and not_before <= now()) as oldest_waiting_seconds`),
};

export interface ExportQueueState {
  waiting_exports: number;
  running_exports: number;
  schedules: number;
  waiting_runs: number;
  running_runs: number;
  /** How long the oldest partition run has been waiting for a slot; null when none is waiting. */
  oldest_waiting_seconds: number | null;
}

type PartitionRunClaim = ExportRow & {
  run_id: string;
  token: number;
  tries: number;
  cursor: string | null;
  pending_upload: PendingFile | null;
  since: string;
  until: string;
  files: number;
};
type ManifestClaim = ExportRow & { token: number; tries: number; completing_at: string };

const columnsOf = (leases: readonly ExportLease[]) => [
  leases.map(({ tenant_id }) => tenant_id),
  leases.map(({ id }) => id),
  leases.map(({ lease_token }) => lease_token),
];

interface Overdue {
  tenant_id: string;
  id: string;
}

/** Maximum number of items of each kind that one sweep handles. */
const sweepMax = 100;

const claiming = (db: Database) => ({
  /** Claims up to `count` partition runs. `sinceMs`: the monotonic time from which their leases count. */
  async claimPartitionRuns(
    count: number,
    leaseMs: number,
    { runsPerExport, exportsPerWorkspace }: ClaimLimits,
  ): Promise<{ claimed: ClaimedPartitionRun[]; sinceMs: number }> {
    let sinceMs = performance.now();
    const claim = { ...statements.claimPartitionRuns, onSend: () => (sinceMs = performance.now()) };
    const rows = await db.query<PartitionRunClaim>(claim, [
      count,
      leaseMs,
      runsPerExport,
      exportsPerWorkspace,
    ]);
    const claimed = rows.map(
      ({
        run_id,
        token,
        tries,
        cursor,
        pending_upload,
        since,
        until,
        files,
        ...row
      }): ClaimedPartitionRun => ({
        export: row,
        lease: { tenant_id: row.tenant_id, id: run_id, lease_token: token, task: 'run' },
        retry_number: tries,
        window_start: since,
        window_end: until,
        cursor,
        files,
        pending_upload,
      }),
    );
    return { claimed, sinceMs };
  },

  /** Claims up to `count` exports whose manifest is due. */
  async claimManifests(
    count: number,
    leaseMs: number,
  ): Promise<{ claimed: ClaimedManifest[]; sinceMs: number }> {
    let sinceMs = performance.now();
    const claim = { ...statements.claimManifests, onSend: () => (sinceMs = performance.now()) };
    const rows = await db.query(claim, [count, leaseMs]);
    const claimed = rows.map(({ token, tries, completing_at, ...row }): ClaimedManifest => ({
      export: row,
      lease: { tenant_id: row.tenant_id, id: row.id, lease_token: token, task: 'manifest' },
      retry_number: tries,
      completing_at,
    }));
    return { claimed, sinceMs };
  },

  /** Extends the leases by `leaseMs` from now. Returns the ids of those that were still valid. */
  async renew(leases: readonly ExportLease[], leaseMs: number): Promise<Set<string>> {
    const ours = new Set<string>();
    const timeoutMs = leaseMs / 3;
    for (const [task, statement] of [
      ['run', statements.renewPartitionRuns],
      ['manifest', statements.renewManifests],
    ] as const) {
      const ofTask = leases.filter((lease) => lease.task === task);
      if (ofTask.length === 0) continue;
      const values = [...columnsOf(ofTask), leaseMs];
      for (const { id } of await db.query<{ id: string }>({ ...statement, timeoutMs }, values)) ours.add(id);
    }
    return ours;
  },
});

const endings = (db: Database) => {
  const requeue = (
    lease: ExportLease,
    { reason, isLost }: { reason: string; isLost: boolean },
    { retries, retryDelayMs }: RetryRules,
  ): Promise<boolean> =>
    isDone(db, statements.requeue[lease.task], [
      ...leaseValues(lease),
      isLost,
      toShownText(reason),
      retries,
      retryDelayMs,
    ]);

  const fail = async (
    lease: ExportLease,
    { cause, message }: { cause: FailureCause; message: string },
    { retries, retryDelayMs }: RetryRules,
  ): Promise<string | undefined> => {
    const values = [...leaseValues(lease), cause, toShownText(message), retries, retryDelayMs];
    const [row] = await db.query(statements.fail[lease.task], values);
    return row?.status ?? undefined;
  };
  return { requeue, fail };
};

type Endings = ReturnType<typeof endings>;

/**
 * Requeues tasks whose lease has ended, and ends exports and attempts that have exceeded their time limit. Returns how many. A failure
 * does not stop the others; the promise rejects at the end with all failures.
 */
const sweep = async (
  db: Database,
  { requeue, fail }: Endings,
  rules: ExportTimes & RetryRules,
): Promise<number> => {
  const { timeoutMs, runTimeoutMs } = rules;
  let found = 0;
  let count = 0;
  const failures: unknown[] = [];
  const settleEach = async <T>(rows: T[], settle: (row: T) => Promise<boolean>): Promise<void> => {
    for (const row of rows) {
      found += 1;
      try {
        if (await settle(row)) count += 1;
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const overdue = await db.query(statements.overdue, [timeoutMs, sweepMax]);
  await settleEach(overdue, ({ tenant_id, id }) =>
    isDone(db, statements.timeOut, [tenant_id, id, timeoutMs]),
  );
  const lost = await db.query(statements.lost, [sweepMax]);
  await settleEach(lost, (lease) => requeue(lease, { reason: 'Its worker was lost', isLost: true }, rules));
  const late = await db.query(statements.late, [runTimeoutMs, sweepMax]);
  const message = `The attempt exceeded its time limit of ${formatDuration(runTimeoutMs)}`;
  await settleEach(
    late,
    async (lease) => (await fail(lease, { cause: 'timeout', message }, rules)) !== undefined,
  );
  if (failures.length > 0)
    throw new AggregateError(
      failures,
      `${failures.length} of ${found} expired exports and partition runs could not be updated`,
    );
  return count;
};

const ending = (db: Database) => {
  const { requeue, fail } = endings(db);
  return {
    /** Records a failed attempt. Returns the status after it; undefined when the lease belongs to another worker. */
    fail,

    /** Releases an unfinished task without counting a retry. False when the lease belongs to another worker. */
    requeue: (lease: ExportLease, reason: string, rules: RetryRules): Promise<boolean> =>
      requeue(lease, { reason, isLost: false }, rules),

    completePartitionRun: (lease: ExportLease): Promise<boolean> =>
      isDone(db, statements.completePartitionRun, leaseValues(lease)),

    /** Sweeps once. Returns how many exports and tasks were changed. */
    sweep: (rules: ExportTimes & RetryRules): Promise<number> => sweep(db, { requeue, fail }, rules),

    /** Creates exports of at most `limit` schedules whose next window ended at least `lagMs` ago. Returns how many. */
    async spawn(lagMs: number, unfinishedMax: number, limit: number): Promise<number> {
      const [row] = await db.query(statements.spawn, [lagMs, unfinishedMax, limit]);
      return row?.count ?? 0;
    },

    async state(): Promise<ExportQueueState> {
      const [row] = await db.query(statements.state, []);
      return row as ExportQueueState;
    },
  };
};

export type ExportLeaseStorage = ReturnType<typeof exportLeaseStorage>;

export const exportLeaseStorage = (db: Database) => ({ ...claiming(db), ...ending(db) });
