import type { CallInput, Cron, cronRoutes } from '@svc/contract';
import { path, type CallOptions, type Transport } from './transport.ts';

type Body<K extends keyof typeof cronRoutes> = NonNullable<CallInput<(typeof cronRoutes)[K]>['body']>;

/** A schedule and the options of its runs, as the API names them, without the assistant. */
export type CronOptions = Omit<Body<'createCron'>, 'assistant_id'>;

export class CronsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Makes runs by a schedule: on a thread, or, with null, each without one (`on_run_completed: 'keep'` keeps a thread for each).
   * @example await client.crons.create(null, 'agent', { schedule: '0 9 * * 1-5', timezone: 'Europe/Berlin', input });
   */
  create(
    threadId: string | null,
    assistantId: string,
    cron: CronOptions,
    options: CallOptions = {},
  ): Promise<Cron> {
    const where = threadId === null ? '/runs/crons' : path`/threads/${threadId}/runs/crons`;
    const body = { ...cron, assistant_id: assistantId };
    return this.#transport.json({ method: 'POST', path: where, body, ...options });
  }

  get(cronId: string, options: CallOptions = {}): Promise<Cron> {
    return this.#transport.json({ method: 'GET', path: path`/runs/crons/${cronId}`, ...options });
  }

  /** Metadata is merged; what else is given replaces what was. */
  update(cronId: string, body: Body<'updateCron'>, options: CallOptions = {}): Promise<Cron> {
    return this.#transport.json({ method: 'PATCH', path: path`/runs/crons/${cronId}`, body, ...options });
  }

  /** Runs that it has made stay. */
  async delete(cronId: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.send({ method: 'DELETE', path: path`/runs/crons/${cronId}`, ...options });
  }

  search(body: Body<'searchCrons'> = {}, options: CallOptions = {}): Promise<Cron[]> {
    return this.#transport.json({ method: 'POST', path: '/runs/crons/search', body, ...options });
  }

  count(body: Body<'countCrons'> = {}, options: CallOptions = {}): Promise<number> {
    return this.#transport.json({ method: 'POST', path: '/runs/crons/count', body, ...options });
  }
}
