// Webhook deliveries as they are read, and who may read them.
import type { RowFilter } from '../../postgres/row-filter.ts';
import { raw, Sql, sql } from '../../postgres/sql.ts';

const threadLives = 'not exists (select 1 from deleted_threads x where x.thread_id = d.thread_id)';

/**
 * SQL condition for the delivery `d`: its thread must pass, and must not be deleted. The row of a stateless run is deleted when it ends or
 * with its log; then the delivery's own metadata decides.
 */
export const deliveryPasses = (parameter: string): string =>
  `case when exists (select 1 from threads t where t.thread_id = d.thread_id)
      then exists (select 1 from threads t where t.thread_id = d.thread_id and t.metadata @@ ${parameter}::jsonpath)
      else d.metadata @@ ${parameter}::jsonpath end
    and ${threadLives}`;

/** The same for statements that are composed. */
export const passesAsDelivery = ({ isEverything, jsonpath }: RowFilter): Sql => {
  if (isEverything) return raw(threadLives);
  const parts = deliveryPasses('$').split('$');
  const condition = new Sql(
    parts,
    parts.slice(1).map(() => jsonpath),
  );
  return sql`(${condition})`;
};

export interface DeliveryAttempt {
  at: string;
  /** Status of the response; absent when there was none. */
  status?: number;
  error?: string;
  ms: number;
}

export interface DeliveryRow {
  delivery_id: string;
  run_id: string;
  thread_id: string;
  url: string;
  status: 'pending' | 'delivered' | 'failed';
  attempt: number;
  not_before: string;
  error: string | null;
  log: DeliveryAttempt[];
  created_at: string;
  ended_at: string | null;
}
