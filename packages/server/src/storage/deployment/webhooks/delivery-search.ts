// Searches of webhook deliveries across runs, in the order of (created_at, delivery_id), newest first.
//
// Only the status has an index with this order. The access filter is applied to windows: a number of deliveries in the order of the page.
import type { AnswerLimits } from '../../postgres/answer-limits.ts';
import { type BoundedPage, readPage } from '../../postgres/bounded-page.ts';
import type { Database } from '../../postgres/database.ts';
import { exactTime } from '../../postgres/exact-text.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { compile, raw, select, type Sql, sql } from '../../postgres/sql.ts';
import { type DeliveryRow, passesAsDelivery } from './delivery-rows.ts';

type Status = DeliveryRow['status'];

/** A position in the order of searches. */
export interface DeliveryPlace {
  /** With microseconds. */
  created_at: string;
  delivery_id: string;
}

export interface DeliverySearch {
  /** All when absent. */
  status?: readonly Status[] | undefined;
}

export interface DeliverySearchPage {
  /** The page begins behind this delivery. */
  after?: DeliveryPlace | undefined;
  limit: number;
}

/** `end`: the last delivery of a full window, behind which there may be more; null when all deliveries were examined. */
export interface DeliveryWindow {
  places: DeliveryPlace[];
  end: DeliveryPlace | null;
}

/** A row of a list; its JSON is text. */
export type ListedDelivery = Omit<DeliveryRow, 'log'> & { log: string };

const statuses: readonly Status[] = ['pending', 'delivered', 'failed'];

const order = (alias: string, direction: 'asc' | 'desc' = 'desc'): Sql =>
  raw(`${alias}.created_at ${direction}, ${alias}.delivery_id ${direction}`);

const isBehind = ({ after }: DeliverySearchPage): Sql =>
  after === undefined
    ? raw('true')
    : sql`(d.created_at, d.delivery_id) < (${after.created_at}::timestamptz, ${after.delivery_id}::uuid)`;

const shown = (alias: string): Sql =>
  raw(`${alias}.delivery_id, ${exactTime(`${alias}.created_at`)} as created_at`);

/**
 * Examines the next `rows` deliveries. Each status has a range of the index, and these are merged. The lateral joins keep the planner from
 * joining the whole table.
 */
const windowOf = (
  { status }: DeliverySearch,
  page: DeliverySearchPage,
  access: RowFilter,
  rows: number,
): Sql => {
  const count = raw(String(rows));
  return sql`with examined as materialized (
      select e.* from unnest(${status ?? statuses}::text[]) s (status) cross join lateral (
        select d.delivery_id, d.created_at from webhook_deliveries d where d.status = s.status and ${isBehind(page)}
        order by ${order('d')} limit ${count}) e
      order by ${order('e')} limit ${count}
    ), matching as (
      select e.* from examined e cross join lateral (
        select 1 from webhook_deliveries d where d.delivery_id = e.delivery_id and ${passesAsDelivery(access)} limit 1) m
      order by ${order('e')} limit ${page.limit}
    ), last as (
      select e.* from examined e where (select count(*) from examined) = ${count}
      order by ${order('e', 'asc')} limit 1
    )
    select f.* from (
      select ${shown('m')}, false as is_end from matching m union all select ${shown('l')}, true from last l
    ) f order by f.is_end, ${order('f')}`;
};

/** The columns of a delivery in a list, of which those in `long` may have any size. */
const columns = {
  delivery_id: 'd.delivery_id',
  run_id: 'd.run_id',
  thread_id: 'd.thread_id',
  url: 'd.url',
  status: 'd.status',
  attempt: 'd.attempt',
  not_before: 'd.not_before',
  error: 'd.error',
  log: 'd.log::text',
  created_at: 'd.created_at',
  ended_at: 'd.ended_at',
};
const long = ['url', 'error', 'log'] as const;

export const deliverySearch = (db: Database, answers: AnswerLimits) => ({
  /** Examines the next `rows` deliveries, and returns the places of those that match. */
  async searchWindow(
    search: DeliverySearch,
    page: DeliverySearchPage,
    access: RowFilter,
    rows: number,
  ): Promise<DeliveryWindow> {
    const found = await select<DeliveryPlace & { is_end: boolean }>(db, windowOf(search, page, access, rows));
    const placeOf = ({ created_at, delivery_id }: DeliveryPlace): DeliveryPlace => ({
      created_at,
      delivery_id,
    });
    const end = found.find(({ is_end }) => is_end);
    return { places: found.filter(({ is_end }) => !is_end).map(placeOf), end: end ? placeOf(end) : null };
  },

  /** Reads the deliveries at the places. Those that do not match any more are left out. */
  readPlaces: (
    places: readonly DeliveryPlace[],
    { status }: DeliverySearch,
    access: RowFilter,
  ): Promise<BoundedPage<ListedDelivery>> =>
    readPage<ListedDelivery>(db, {
      keys: compile(sql`select d.delivery_id, d.created_at from webhook_deliveries d
        where d.delivery_id = any (${places.map(({ delivery_id }) => delivery_id)}::uuid[])
          and d.status = any (${status ?? statuses}::text[]) and ${passesAsDelivery(access)}`),
      order: 'k.created_at desc, k.delivery_id desc',
      columns,
      long,
      from: 'webhook_deliveries d',
      where: 'd.delivery_id = k.delivery_id',
      limit: places.length,
      answers,
    }),
});
