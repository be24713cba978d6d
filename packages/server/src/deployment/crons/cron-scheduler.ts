// Fires crons that are due. Every node may run one: a tick belongs to who locks its cron first.
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
      logger.error({ err: error }, 'crons could not be fired; will try again');
    }
  }

  /** False when none is due. A cron that cannot fire is disabled; a database that is away is no reason for that. */
  async #fireOne(): Promise<boolean> {
    const { crons, logger } = this.#options;
    try {
      return await crons.fire(planTick);
    } catch (error) {
      const isAway = error instanceof TickFailed && isTransient(error.cause);
      if (!(error instanceof TickFailed) || isAway) throw error;
      logger.error({ err: error, cron_id: error.cron_id }, 'a cron cannot fire and is disabled');
      const reason = error.cause instanceof Problem ? error.cause.message : 'Its run could not be made';
      await crons.disable(error.cron_id, reason);
      return true;
    }
  }
}

const isTransient = (error: unknown): boolean =>
  (error instanceof Problem && error.code === 'unavailable') ||
  ['40001', '40P01'].includes((error as { code?: string } | null)?.code ?? '');
