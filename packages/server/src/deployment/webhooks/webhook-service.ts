// Webhooks: validation of URLs, and reads of deliveries.
import type { WebhookDelivery } from '@svc/contract';
import { invalid, notFound } from '@svc/contract/problem';
import type { WebhookRules } from '../../config/project/webhooks.ts';
import { EgressRefused, type EgressGuard } from '../../net/guard.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DeliveryRow } from '../../storage/deployment/webhook-deliveries.ts';

export class WebhookService {
  readonly #storage: Pick<Storage, 'deliveries' | 'runs'>;
  readonly #guard: EgressGuard;
  readonly #rules: WebhookRules;
  readonly #isDisabled: boolean;

  constructor(parts: {
    storage: Pick<Storage, 'deliveries' | 'runs'>;
    guard: EgressGuard;
    rules: WebhookRules;
    isDisabled?: boolean;
  }) {
    this.#storage = parts.storage;
    this.#guard = parts.guard;
    this.#rules = parts.rules;
    this.#isDisabled = parts.isDisabled ?? false;
  }

  /** The normalized URL to store with the run. Throws `invalid` for a URL that is not allowed. */
  accept(webhook: string): string {
    if (this.#isDisabled) throw invalid(['body', 'webhook'], 'webhooks are disabled on this server');
    try {
      return this.#guard.check(webhook, this.#rules.url).url.href;
    } catch (error) {
      if (error instanceof EgressRefused) throw invalid(['body', 'webhook'], `webhook ${error.message}`);
      throw error;
    }
  }

  /** The run is looked up first: the row of a stateless run is deleted in the transaction that creates its delivery. */
  async list(thread_id: string, run_id: string, access: RowFilter): Promise<WebhookDelivery[]> {
    const run = await this.#storage.runs.find(run_id, thread_id, access);
    const rows = await this.#storage.deliveries.list(run_id, thread_id, access);
    if (!run && rows.length === 0) throw notFound('Run', run_id);
    return rows.map(toDelivery);
  }
}

const toDelivery = ({ url, attempt, log, not_before, ...row }: DeliveryRow): WebhookDelivery => ({
  delivery_id: row.delivery_id,
  run_id: row.run_id,
  thread_id: row.thread_id,
  url: withoutQuery(url),
  status: row.status,
  error: row.error,
  attempt,
  attempts: log,
  next_attempt_at: row.status === 'pending' ? not_before : null,
  created_at: row.created_at,
  ended_at: row.ended_at,
});

/** Removes the query, which may contain secrets. */
const withoutQuery = (text: string): string => {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
};
