// Webhook deliveries: claims, outcomes of attempts, and reads of one run; delivery-search.ts reads across runs. queue_webhook() creates the rows when a run ends.
import { defaultAnswerLimits } from '../../postgres/answer-limits.ts';
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { type DeliveryAttempt, deliveryPasses, type DeliveryRow } from './delivery-rows.ts';
import { deliverySearch } from './delivery-search.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

/** A delivery with its lease and its content. */
export interface ClaimedDelivery {
  delivery_id: string;
  run_id: string;
  url: string;
  origin: string;
  attempt: number;
  lease_token: number;
  /** JSON text of the run as it ended. */
  run: string;
  /** JSON text of its final values. */
  values: string | null;
  /** Time of the claim. */
  claimed_at: string;
}

/** Deliveries that will be attempted again after a failed attempt. */
export interface FailingDeliveries {
  /** Exact up to 1,000; 1,001 stands for more. */
  count: number;
  /** Of the delivery that was created last. */
  origin: string | null;
  error: string | null;
}

type ClaimRow = { [K in keyof ClaimedDelivery]: ClaimedDelivery[K] | null } & { resume_after: string | null };

export type DeliveryLease = Pick<ClaimedDelivery, 'delivery_id' | 'lease_token'>;

/** Outcome of an attempt: the delivery has ended, or is due again after `retryMs`. */
export interface DeliveryResult {
  status: 'pending' | 'delivered' | 'failed';
  retryMs: number;
  attempt: DeliveryAttempt;
}

/** Attempts that a row keeps. */
const logMax = 20;
/** A run has one delivery. */
const listMax = 10;

const columns =
  'delivery_id, run_id, thread_id, url, status, attempt, not_before, error, log, created_at, ended_at';

export const statements = {
  claim:
    statement<ClaimRow>(`select delivery_id, run_id, url, origin, attempt, lease_token, run, values, now() as claimed_at, resume_after
      from claim_deliveries($1, $2 * interval '1 ms', $3, $4)`),
  // The values of a delivered webhook are deleted; those of a failed one are kept for inspection.
  record: statement(`update webhook_deliveries d
      set status = $3::text, lease_until = null, not_before = now() + $4 * interval '1 ms', error = $5::jsonb->>'error',
        ended_at = case when $3::text = 'pending' then null else now() end,
        values = case when $3::text = 'delivered' then null else d.values end,
        log = case when jsonb_array_length(d.log) >= ${logMax} then d.log - 0 else d.log end || $5::jsonb
      where d.delivery_id = $1 and d.lease_token = $2 and d.status = 'pending'
      returning d.delivery_id`),
  release:
    statement(`update webhook_deliveries d set lease_until = null, attempt = d.attempt - 1, lease_token = d.lease_token + 1
      where d.delivery_id = $1 and d.lease_token = $2 and d.status = 'pending'`),
  // A failed delivery still has its values. A delivery with a lease is not changed: the outcome of its attempt decides when it is due.
  retry: statement<DeliveryRow>(`with retried as (
        update webhook_deliveries d set status = 'pending', not_before = now(), ended_at = null,
          attempt = case when d.status = 'failed' then 0 else d.attempt end
        where d.delivery_id = $1 and d.run_id = $2 and d.thread_id = $3 and d.status in ('pending', 'failed')
          and (d.lease_until is null or d.lease_until < now()) and ${deliveryPasses('$4')}
        returning ${columns}
      ), notified as (select pg_notify('svc', 'w') from retried)
      select ${columns} from retried, notified`),
  list: statement<DeliveryRow>(`select ${columns} from webhook_deliveries d where d.run_id = $1 and d.thread_id = $2
        and ${deliveryPasses('$3')}
      order by created_at limit ${listMax}`),
  failing: readStatement<FailingDeliveries>(`with failing as (
        select d.origin, d.error, d.created_at from webhook_deliveries d
        where d.status = 'pending' and d.error is not null order by d.not_before limit 1001)
      select (select count(*)::integer from failing) as count, l.origin, l.error
      from (select) one left join (select origin, error from failing order by created_at desc limit 1) l on true`),
  deleteEnded: statement<{ deleted: number }>(`with old as (
        select w.delivery_id from webhook_deliveries w where w.ended_at < now() - $1 * interval '1 ms'
        order by w.ended_at limit $2 for update skip locked
      ), gone as (
        delete from webhook_deliveries d using old where d.delivery_id = old.delivery_id returning 1
      )
      select count(*)::integer as deleted from gone`),
};

export type DeliveryStorage = ReturnType<typeof deliveryStorage>;

export const deliveryStorage = (db: Database, answers = defaultAnswerLimits) => ({
  ...deliverySearch(db, answers),

  /**
   * Claims up to `count` due deliveries, at most one per origin, in the order of origins after `after`, without the origins in `busy`.
   * `resumeAfter`: where the next claim continues; null when no origin is left.
   */
  async claim(
    count: number,
    leaseMs: number,
    { busy, after }: { busy: string[]; after: string },
  ): Promise<{ claimed: ClaimedDelivery[]; resumeAfter: string | null }> {
    const rows = await db.query(statements.claim, [count, leaseMs, busy, after]);
    const claimed = rows.filter((row): row is ClaimedDelivery & ClaimRow => row.delivery_id !== null);
    return { claimed, resumeAfter: rows.at(-1)?.resume_after ?? null };
  },

  /** False when the lease was lost: then the result of the new holder counts. */
  async record(
    { delivery_id, lease_token }: DeliveryLease,
    { status, retryMs, attempt }: DeliveryResult,
  ): Promise<boolean> {
    const values = [delivery_id, lease_token, status, retryMs, JSON.stringify(attempt)];
    return (await db.query(statements.record, values)).length > 0;
  },

  /** Releases a delivery whose attempt was interrupted; it is due at once, and the attempt is not counted. */
  async release({ delivery_id, lease_token }: DeliveryLease): Promise<void> {
    await db.query(statements.release, [delivery_id, lease_token]);
  },

  /** Makes a delivery that failed or waits due now. Undefined when there is none, or an attempt is under way. */
  async retry(
    { delivery_id, run_id, thread_id }: Pick<DeliveryRow, 'delivery_id' | 'run_id' | 'thread_id'>,
    access: RowFilter,
  ): Promise<DeliveryRow | undefined> {
    const values = [delivery_id, run_id, thread_id, access.jsonpath];
    return (await db.query(statements.retry, values))[0];
  },

  list: (run_id: string, thread_id: string, access: RowFilter): Promise<DeliveryRow[]> =>
    db.query(statements.list, [run_id, thread_id, access.jsonpath]),

  /** For all threads and users: for the operator only. */
  async failing(): Promise<FailingDeliveries> {
    const [row] = await db.query(statements.failing, []);
    return row as FailingDeliveries;
  },

  /** Deletes up to `limit` deliveries that ended longer ago than `olderThanMs`; returns how many. */
  async deleteEnded(olderThanMs: number, limit: number): Promise<number> {
    const [row] = await db.query(statements.deleteEnded, [olderThanMs, limit]);
    return row?.deleted ?? 0;
  },
});
