// The loop of every background worker: runs, exports, webhooks, crons and periodic tasks differ in what they claim.
//
//   idle ──wake: notification, poll, freed slot──▶ claiming ──no free slot, or nothing left──▶ idle
//                                                  │     ▲
//                                                  └error┘ after a pause that doubles up to the poll interval
//
// One claim is under way at a time. A wake that arrives meanwhile causes another claim, so no notification is lost.
import type { Logger } from 'pino';
import { Backoff, settledWithin } from '../backoff.ts';
import type { NotificationBus, NotificationKind } from './notification-bus.ts';

export interface WorkerLoopOptions {
  /** The work of the loop, for the log: `claim runs`. */
  task: string;
  /**
   * Claims work into free slots and starts it. Resolves with true when more may be claimed at once. A claim that rejects is
   * logged and repeated.
   */
  claim: (freeSlots: number) => Promise<boolean | void>;
  /** Free slots of this process. Absent: the loop works on one claim after the other. */
  freeSlots?: () => number;
  /** Jobs that were claimed and have not ended. */
  running?: () => number;
  /** What is claimed has limits of its own, so that the end of a job may permit another claim even when slots were free. */
  hasOtherLimits?: boolean;
  /** How often to look for work that no notification announced; never when absent. */
  pollMs?: number;
  /** The notification that announces work. */
  notifications?: { bus: NotificationBus; kind: NotificationKind };
  logger: Pick<Logger, 'error'>;
}

/** Milliseconds of the first pause after a claim that failed, and of the longest. */
const pauseMs = { first: 50, max: 5_000 };

/** A timer that is set for longer fires at once. */
const timerMsMax = 2 ** 31 - 1;

export class WorkerLoop implements AsyncDisposable {
  readonly #options: WorkerLoopOptions;
  readonly #poll: NodeJS.Timeout | undefined;
  readonly #backoff: Backoff;
  #retry: NodeJS.Timeout | undefined;
  readonly #claims = new CoalescedTask(() => this.#claimAll());
  readonly #onQuiet: (() => void)[] = [];
  #isStopped = false;
  /** Work may wait for a free slot. */
  #isFull = false;

  constructor(options: WorkerLoopOptions) {
    this.#options = options;
    const { notifications, pollMs } = options;
    this.#backoff = new Backoff({ first: pauseMs.first, max: Math.min(pollMs ?? Infinity, pauseMs.max) });
    notifications?.bus.on(notifications.kind, () => this.wake());
    notifications?.bus.onMissed(() => this.#wakeNow());
    if (pollMs !== undefined) this.#poll = setInterval(() => this.wake(), pollMs);
  }

  /** Claims soon: at once, after the claim that is under way, or after the pause that follows an error. */
  wake(): void {
    this.#claims.trigger();
  }

  /** A slot was needed and none was free: the loop claims when one is freed. */
  noteFull(): void {
    this.#isFull = true;
  }

  /** A job has ended. Wakes the loop only if it lacked a slot or has other limits: the end of a job is no reason for a query otherwise. */
  slotFreed(): void {
    if (this.#isQuiet) for (const resolve of this.#onQuiet.splice(0)) resolve();
    if (this.#isFull || this.#options.hasOtherLimits) this.wake();
  }

  /** Claims no more; resolves when no claim is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#poll);
    clearTimeout(this.#retry);
    await this.#claims.stop();
  }

  /** Stops, and resolves when no job runs here, after `graceMs`, or when `hurry` is aborted. */
  async drain(graceMs = Infinity, hurry?: AbortSignal): Promise<void> {
    await this.stop();
    if (this.#isQuiet || hurry?.aborted) return;
    const quiet = new Promise<void>((resolve) => this.#onQuiet.push(resolve));
    await settledWithin(quiet, Math.min(graceMs, timerMsMax), hurry);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  get #isQuiet(): boolean {
    return (this.#options.running?.() ?? 0) === 0;
  }

  /** Claims even while the loop pauses after an error. */
  #wakeNow(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.wake();
  }

  async #claimAll(): Promise<void> {
    const { task, claim, freeSlots, logger } = this.#options;
    if (this.#retry) return;
    try {
      for (;;) {
        const free = freeSlots?.() ?? 1;
        this.#isFull = free <= 0;
        if (this.#isStopped || free <= 0 || !(await claim(free))) break;
      }
      this.#backoff.reset();
    } catch (error) {
      logger.error({ err: error }, `failed to ${task}, retrying`);
      if (!this.#isStopped) this.#retry = setTimeout(() => this.#wakeNow(), this.#backoff.next());
    }
  }
}

/** Work that can be triggered at any time and never runs twice at once: a trigger during the work repeats it once afterwards. */
class CoalescedTask {
  readonly #work: () => Promise<void>;
  #doing: Promise<void> | undefined;
  #isTriggeredAgain = false;
  #isStopped = false;

  /** `work` must not reject. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  trigger(): void {
    if (this.#isStopped) return;
    if (this.#doing) {
      this.#isTriggeredAgain = true;
      return;
    }
    this.#doing = this.#work().finally(() => {
      this.#doing = undefined;
      if (!this.#isTriggeredAgain) return;
      this.#isTriggeredAgain = false;
      this.trigger();
    });
  }

  /** Ignores further triggers; resolves when no work is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#doing;
  }
}
