// Searches of webhook deliveries across runs. The time of a request is bounded: a page may end early, with a cursor for the rest.
import type { WebhookDelivery } from '@svc/contract';
import { cursorOfBody, foreignCursor, toCursor } from '../../api/cursor.ts';
import { toTime } from '../../time.ts';
import type {
  DeliveryPlace,
  DeliverySearch,
  DeliverySearchPage,
  DeliveryWindow,
} from '../../storage/deployment/delivery-search.ts';
import type { DeliveryAttempt } from '../../storage/deployment/delivery-rows.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { deliveryOf } from './delivery-record.ts';

/** Deliveries that are examined for a page, window after window, before it ends early. */
const windows = [500, 5_000, 20_000] as const;

export interface DeliverySearchRequest extends DeliverySearch {
  cursor?: string | undefined;
  limit: number;
}

export interface FoundDeliveries {
  rows: WebhookDelivery[];
  /** The cursor of the next page; null on the last one. */
  next: string | null;
  /** Why the page has fewer rows than its limit although more may follow. */
  limitedBy?: 'bytes' | 'rows' | undefined;
}

export class DeliverySearchService {
  readonly #deliveries: Storage['deliveries'];

  constructor(storage: Pick<Storage, 'deliveries'>) {
    this.#deliveries = storage.deliveries;
  }

  /** Throws invalid for a cursor that is none. */
  async search(
    { cursor, limit, ...search }: DeliverySearchRequest,
    access: RowFilter,
  ): Promise<FoundDeliveries> {
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const { places, end } = await this.#find(search, { after, limit: limit + 1 }, access);
    const wanted = places.slice(0, limit);
    const found = await this.#deliveries.readPlaces(wanted, search, access);
    const rows = found.rows.map((row) =>
      deliveryOf({ ...row, log: JSON.parse(row.log) as DeliveryAttempt[] }),
    );
    const last = wanted[(found.isCut ? rows.length : wanted.length) - 1];
    if (found.isCut && last) return { rows, next: cursorOf(last), limitedBy: 'bytes' };
    if (places.length > limit && last) return { rows, next: cursorOf(last) };
    return end === null ? { rows, next: null } : { rows, next: cursorOf(end), limitedBy: 'rows' };
  }

  /** The places of a page. `end`: where the search stopped before it had found as many. */
  async #find(search: DeliverySearch, page: DeliverySearchPage, access: RowFilter): Promise<DeliveryWindow> {
    const places: DeliveryPlace[] = [];
    let end: DeliveryPlace | null = null;
    for (const rows of windows) {
      const rest = { after: end ?? page.after, limit: page.limit - places.length };
      const found = await this.#deliveries.searchWindow(search, rest, access, Math.max(rows, rest.limit));
      places.push(...found.places);
      end = found.end;
      if (end === null || places.length >= page.limit) break;
    }
    return { places, end };
  }
}

const cursorOf = ({ created_at, delivery_id }: DeliveryPlace): string =>
  toCursor({ start_time: created_at, id: delivery_id });

const placeOf = (cursor: string): DeliveryPlace => {
  const { start_time, id: delivery_id } = cursorOfBody(cursor);
  const created_at = toTime(start_time);
  if (created_at === undefined) throw foreignCursor();
  return { created_at, delivery_id };
};
