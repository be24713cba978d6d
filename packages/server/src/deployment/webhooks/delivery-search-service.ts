// Searches of webhook deliveries across runs.
import type { WebhookDelivery } from '@svc/contract';
import { cursorOfBody, foreignCursor, toCursor } from '../../api/cursor.ts';
import { type FoundPage, foundPage, searchWindows } from '../../api/windowed-search.ts';
import { toTime } from '../../api/time.ts';
import type { DeliveryPlace, DeliverySearch } from '../../storage/deployment/webhooks/delivery-search.ts';
import type { DeliveryAttempt } from '../../storage/deployment/webhooks/delivery-rows.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { deliveryOf } from './delivery-record.ts';

export interface DeliverySearchRequest extends DeliverySearch {
  cursor?: string | undefined;
  limit: number;
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
  ): Promise<FoundPage<WebhookDelivery>> {
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const searched = await searchWindows<DeliveryPlace>({ after, limit: limit + 1 }, (rest, rows) =>
      this.#deliveries.searchWindow(search, rest, access, rows),
    );
    const found = await this.#deliveries.readPlaces(searched.places.slice(0, limit), search, access);
    const rows = found.rows.map((row) =>
      deliveryOf({ ...row, log: JSON.parse(row.log) as DeliveryAttempt[] }),
    );
    return foundPage({ rows, isCut: found.isCut }, searched, limit, cursorOf);
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
