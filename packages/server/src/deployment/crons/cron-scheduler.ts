// Fires due crons. Every node may run a scheduler: the node that locks a cron first fires it.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { TickFailed, type CronStorage } from '../../storage/deployment/crons.ts';
import { planTick } from './cron-service.ts';

export interface CronSchedulerOptions {
  crons: CronStorage;
  pollMs: number;
  logger: Logger;
}

export class CronScheduler implements AsyncDisposable {
  readonly #options: CronSchedulerOptions;
  #timer: NodeJS.Timeout;
  #firing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: CronSchedulerOptions) {
    this.#options = options;
    this.#timer = setTimeout(() => this.#fire(), 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#firing;
  }

  #fire(): void {
    this.#firing = this.#fireAll().finally(() => {
      if (!this.#isClosed) this.#timer = setTimeout(() => this.#fire(), this.#options.pollMs);
    });
  }

  async #fireAll(): Promise<void> {
    const { logger } = this.#options;
    try {
      while (!this.#isClosed && (await this.#fireOne()));
    } catch (error) {
      logger.error({ err: error }, 'failed to fire crons; retrying');
    }
  }

  /** False when no cron is due. Disables a cron that cannot fire, unless the database is unavailable. */
  async #fireOne(): Promise<boolean> {
    const { crons, logger } = this.#options;
    try {
      return await crons.fire(planTick);
    } catch (error) {
      const isTemporary = error instanceof TickFailed && isTransient(error.cause);
      if (!(error instanceof TickFailed) || isTemporary) throw error;
      logger.error({ err: error, cron_id: error.cron_id }, 'cron cannot fire; disabled');
      const reason = error.cause instanceof Problem ? error.cause.message : 'Its run could not be created';
      await crons.disable(error.cron_id, reason);
      return true;
    }
  }
}

const isTransient = (error: unknown): boolean =>
  (error instanceof Problem && error.code === 'unavailable') ||
  ['40001', '40P01'].includes((error as { code?: string } | null)?.code ?? '');
