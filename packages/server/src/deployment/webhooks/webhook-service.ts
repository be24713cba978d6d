// Webhooks: validation of URLs, and reads of deliveries.
import type { WebhookDelivery } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { WebhookRules } from '../../config/project/webhooks.ts';
import { EgressRefused, type EgressGuard, usualLengthMax } from '../../net/guard.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import { deliveryOf } from './delivery-record.ts';
import { ownWebhookUrl } from './own-webhook.ts';

export class WebhookService {
  readonly #storage: Pick<Storage, 'deliveries' | 'runs'>;
  readonly #guard: EgressGuard;
  readonly #rules: WebhookRules;
  readonly #isDisabled: boolean;
  readonly #hasCustomApp: boolean;

  constructor(parts: {
    storage: Pick<Storage, 'deliveries' | 'runs'>;
    guard: EgressGuard;
    rules: WebhookRules;
    isDisabled?: boolean;
    /** Whether webhooks may be paths of the project's custom app, if the rules allow loopback. */
    hasCustomApp?: boolean;
  }) {
    this.#storage = parts.storage;
    this.#guard = parts.guard;
    this.#rules = parts.rules;
    this.#isDisabled = parts.isDisabled ?? false;
    this.#hasCustomApp = parts.hasCustomApp ?? false;
  }

  /** The normalized URL to store with the run. Throws `invalid` for a URL that is not allowed. */
  accept(webhook: string): string {
    if (this.#isDisabled) throw invalid(['body', 'webhook'], 'webhooks are disabled on this server');
    if (webhook.startsWith('/')) return this.#acceptOwn(webhook);
    try {
      return this.#guard.check(webhook, this.#rules.url).url.href;
    } catch (error) {
      if (error instanceof EgressRefused) throw invalid(['body', 'webhook'], `webhook ${error.message}`);
      throw error;
    }
  }

  #acceptOwn(webhook: string): string {
    const { loopback, lengthMax = usualLengthMax } = this.#rules.url;
    if (!this.#hasCustomApp || loopback !== true)
      throw invalid(
        ['body', 'webhook'],
        'webhook must be an absolute URL; a path needs "http.app", and "webhooks.url.disable_loopback": false, in svc.json',
      );
    if (webhook.length > lengthMax)
      throw invalid(['body', 'webhook'], `webhook must be at most ${lengthMax} characters`);
    const url = ownWebhookUrl(webhook);
    if (url === undefined) throw invalid(['body', 'webhook'], 'webhook must be a path, or an absolute URL');
    return url;
  }

  /** The run is looked up first: the row of a stateless run is deleted in the transaction that creates its delivery. */
  async list(thread_id: string, run_id: string, access: RowFilter): Promise<WebhookDelivery[]> {
    const run = await this.#storage.runs.find(run_id, thread_id, access);
    const rows = await this.#storage.deliveries.list(run_id, thread_id, access);
    if (!run && rows.length === 0) throw notFound('Run', run_id);
    return rows.map(deliveryOf);
  }

  /** Throws conflict during an attempt, and for a delivery that was delivered: its values are deleted. */
  async retry(
    delivery: { delivery_id: string; run_id: string; thread_id: string },
    access: RowFilter,
  ): Promise<WebhookDelivery> {
    if (this.#isDisabled) throw new Problem('conflict', 'Webhooks are disabled on this server');
    const { deliveries } = this.#storage;
    const retried = await deliveries.retry(delivery, access);
    if (retried) return deliveryOf(retried);
    const rows = await deliveries.list(delivery.run_id, delivery.thread_id, access);
    const row = rows.find(({ delivery_id }) => delivery_id === delivery.delivery_id);
    if (!row) throw notFound('Delivery', delivery.delivery_id);
    const reason =
      row.status === 'delivered'
        ? 'The webhook was delivered, and is not sent again'
        : 'An attempt is under way. Try again when it has ended, within seconds';
    throw new Problem('conflict', reason);
  }
}
