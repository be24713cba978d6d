// Webhooks as clients see them: what a run may name, and what became of it.
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

  constructor(parts: {
    storage: Pick<Storage, 'deliveries' | 'runs'>;
    guard: EgressGuard;
    rules: WebhookRules;
  }) {
    this.#storage = parts.storage;
    this.#guard = parts.guard;
    this.#rules = parts.rules;
  }

  /** The URL as it is to be stored with the run. Throws invalid for one that may not be called. */
  accept(webhook: string): string {
    try {
      return this.#guard.check(webhook, this.#rules.url).url.href;
    } catch (error) {
      if (error instanceof EgressRefused) throw invalid(['body', 'webhook'], `webhook ${error.message}`);
      throw error;
    }
  }

  /** A run without a thread goes when it ends, as its delivery comes: whoever looks for the run first sees one of them. */
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

/** A query is where keys are put. */
const withoutQuery = (text: string): string => {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
};
