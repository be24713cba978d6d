import type { Cron } from '@svc/contract';
import type { Body, CallOptions, Transport } from './transport.ts';

/** A schedule and the options of its runs, with the names of the API, without the assistant. */
export type CronOptions = Omit<Body<'createCron'>, 'assistant_id'>;

export class CronsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates runs by a schedule: on a thread, or, with null, stateless ones (`on_run_completed: 'keep'` keeps the thread of each run).
   * @example await client.crons.create(null, 'agent', { schedule: '0 9 * * 1-5', timezone: 'Europe/Berlin', input });
   */
  create(
    threadId: string | null,
    assistantId: string,
    cron: CronOptions,
    options: CallOptions = {},
  ): Promise<Cron> {
    const body = { ...cron, assistant_id: assistantId };
    return threadId === null
      ? this.#transport.call('createCron', { body }, options)
      : this.#transport.call('createThreadCron', { params: { thread_id: threadId }, body }, options);
  }

  get(cronId: string, options: CallOptions = {}): Promise<Cron> {
    return this.#transport.call('getCron', { params: { cron_id: cronId } }, options);
  }

  /** Merges metadata; every other field that is given replaces the stored value. */
  update(cronId: string, body: Body<'updateCron'>, options: CallOptions = {}): Promise<Cron> {
    return this.#transport.call('updateCron', { params: { cron_id: cronId }, body }, options);
  }

  /** Keeps the runs that the cron has created. */
  delete(cronId: string, options: CallOptions = {}): Promise<void> {
    return this.#transport.call('deleteCron', { params: { cron_id: cronId } }, options);
  }

  search(body: Body<'searchCrons'> = {}, options: CallOptions = {}): Promise<Cron[]> {
    return this.#transport.call('searchCrons', { body }, options);
  }

  count(body: Body<'countCrons'> = {}, options: CallOptions = {}): Promise<number> {
    return this.#transport.call('countCrons', { body }, options);
  }
}
