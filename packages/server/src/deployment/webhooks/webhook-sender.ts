// Sends due webhooks of runs that ended on any server. One attempt is one claim: the lease of a server that dies during it
// expires, and another server tries again with the same delivery id.
//
//   2xx ──▶ delivered        408, 425, 429, 5xx, no response ──▶ again after a pause, until the attempts are used up
//   any other response, or a target that is not allowed ──▶ failed
//
// Origins take turns, and each has few of the slots, so receivers that hang do not delay the others.
import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { onAbort, timeLimit } from '../../abort.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { WebhookRules } from '../../config/project/webhooks.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import { type EgressGuard, EgressRefused, isOn } from '../../net/guard.ts';
import { post, PostTimeout } from '../../net/post.ts';
import type {
  ClaimedDelivery,
  DeliveryResult,
  DeliveryStorage,
} from '../../storage/deployment/webhooks/webhook-deliveries.ts';
import { ownHost, ownWebhookPath, type SendOwnWebhook } from './own-webhook.ts';
import { createHmac } from 'node:crypto';

export interface WebhookTimes {
  /** For one request, from resolving the name to the last byte of the response. */
  timeoutMs: number;
  /** Longer than `timeoutMs`. A delivery of a server that is gone is claimed again after this time. */
  leaseMs: number;
  /** Pauses after the first, second, … failure, plus or minus a random fifth. There is one attempt more than pauses. */
  backoffMs: readonly number[];
  /** How often to look for deliveries that no notification announced. */
  pollMs: number;
  /** How long a server that stops waits for responses. */
  graceMs: number;
}

const minute = 60_000;
const hour = 60 * minute;

export const webhookTimes: WebhookTimes = {
  timeoutMs: 10_000,
  leaseMs: 30_000,
  backoffMs: [5_000, 30_000, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour],
  pollMs: 1_000,
  graceMs: 5_000,
};

export interface WebhookSenderOptions {
  deliveries: DeliveryStorage;
  notifications: NotificationBus;
  guard: EgressGuard;
  rules: WebhookRules;
  /** Undefined: webhooks are not signed. */
  secret: Secret | undefined;
  /** Undefined without a custom app. */
  sendOwn?: SendOwnWebhook | undefined;
  logger: Logger;
  times?: Partial<WebhookTimes>;
}

/** Maximum number of concurrent deliveries. */
const sendingMax = 128;
/** Deliveries to one origin at once. */
const perOrigin = 4;
/** Deliveries at once to origins that did not respond last time, of which each gets one. The other slots are for the other origins. */
const silentMax = sendingMax / 2;
/** Origins that are remembered as silent. */
const silentOriginsMax = 1_000;
/** Deliveries per claim. */
const claimMax = 8;
/** Characters of the bodies under way; a single body may be larger. */
const bodyCharsMax = 64_000_000;
const responseBytesMax = 65_536;
const retried = new Set([408, 425, 429]);

export class WebhookSender implements AsyncDisposable {
  readonly #options: WebhookSenderOptions;
  readonly #times: WebhookTimes;
  readonly #sending = new Map<ClaimedDelivery, Promise<void>>();
  readonly #silent = new LRUCache<string, true>({ max: silentOriginsMax });
  /** The origin that was claimed last. The next claim begins after it, so that origins take turns. */
  #after = '';
  #bodyChars = 0;
  /** Aborts the requests under way. */
  readonly #stop = new AbortController();
  readonly #loop: WorkerLoop;
  #isClosing = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#times = { ...webhookTimes, ...options.times };
    setMaxListeners(sendingMax, this.#stop.signal);
    this.#loop = new WorkerLoop({
      task: 'claim webhooks',
      claim: () => this.#claimTurn(),
      freeSlots: () => this.#freeSlots,
      running: () => this.#sending.size,
      hasOtherLimits: true, // deliveries per origin
      pollMs: this.#times.pollMs,
      notifications: { bus: options.notifications, kind: 'w' },
      logger: options.logger,
    });
  }

  /** Waits a moment for the responses under way; the other deliveries are released to other servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#loop.drain(this.#times.graceMs);
    this.#stop.abort();
    await this.#loop.drain();
  }

  get #freeSlots(): number {
    return this.#isClosing || this.#bodyChars > bodyCharsMax ? 0 : sendingMax - this.#sending.size;
  }

  /** Claims from the origins after the last one to the end of their order. Resolves with true when deliveries may be left. */
  async #claimTurn(): Promise<boolean> {
    const { deliveries } = this.#options;
    const isWhole = this.#after === '';
    for (let sum = 0; ;) {
      const count = Math.min(this.#freeSlots, claimMax);
      if (count <= 0) return true;
      const place = { busy: this.#busy(), after: this.#after };
      const { claimed, resumeAfter } = await deliveries.claim(count, this.#times.leaseMs, place);
      for (const delivery of claimed) this.#start(delivery);
      sum += claimed.length;
      this.#after = resumeAfter ?? '';
      if (resumeAfter === null) return sum > 0 || !isWhole;
    }
  }

  /** Origins that get no slot now. */
  #busy(): string[] {
    const counts = new Map<string, number>();
    for (const { origin } of this.#sending.keys()) counts.set(origin, (counts.get(origin) ?? 0) + 1);
    const full = [...counts].filter(([origin, count]) => count >= (this.#silent.has(origin) ? 1 : perOrigin));
    let silent = 0;
    for (const [origin, count] of counts) if (this.#silent.has(origin)) silent += count;
    const others = silent + claimMax > silentMax ? [...this.#silent.keys()] : [];
    return [...new Set([...full.map(([origin]) => origin), ...others])];
  }

  #start(delivery: ClaimedDelivery): void {
    const sending = this.#deliver(delivery)
      .catch((error: unknown) =>
        this.#options.logger.error(
          { err: error, delivery_id: delivery.delivery_id },
          'failed to save the result of a webhook; it is sent again when its lease expires',
        ),
      )
      .finally(() => {
        this.#sending.delete(delivery);
        this.#bodyChars -= charsOf(delivery);
        this.#loop.slotFreed();
      });
    this.#sending.set(delivery, sending);
    this.#bodyChars += charsOf(delivery);
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const { deliveries, logger } = this.#options;
    const began = performance.now();
    const answer = await this.#send(delivery);
    if (this.#stop.signal.aborted && answer.status === undefined) return deliveries.release(delivery);
    if (answer.status !== undefined) this.#silent.delete(delivery.origin);
    else if (!answer.isFinal) this.#silent.set(delivery.origin, true);
    const result = this.#judge(delivery, answer, Math.round(performance.now() - began));
    const { delivery_id, run_id, origin, attempt } = delivery;
    const facts = { delivery_id, run_id, origin, attempt, ...answer };
    if (!(await deliveries.record(delivery, result)))
      logger.warn(facts, 'a webhook was delivered after its lease had ended');
    else if (result.status === 'failed') logger.warn(facts, 'webhook failed permanently');
    else if (result.status === 'pending') logger.info(facts, 'a webhook failed, retrying');
  }

  async #send(delivery: ClaimedDelivery): Promise<Answer> {
    const { guard, rules } = this.#options;
    if (delivery.attempt > this.#attemptsMax)
      return { error: 'The server was lost during every attempt', isFinal: true };
    const path = ownWebhookPath(delivery.url);
    try {
      if (path !== undefined) return await this.#sendOwn(path, delivery);
      // Checked again: the allowed targets may have changed since the run was created.
      const target = guard.check(delivery.url, rules.url);
      const { body, headers } = this.#request(delivery, target.url.hostname);
      const { timeoutMs } = this.#times;
      const { status } = await post(target, body, headers, {
        timeoutMs,
        responseBytesMax,
        signal: this.#stop.signal,
      });
      return judged(status);
    } catch (error) {
      return { error: reason(error), isFinal: error instanceof EgressRefused };
    }
  }

  /** Sends a webhook to the custom app of this process. */
  async #sendOwn(path: string, delivery: ClaimedDelivery): Promise<Answer> {
    const { sendOwn, rules } = this.#options;
    if (sendOwn === undefined || rules.url.loopback !== true)
      return { error: 'Webhooks to routes of this server are not allowed any more', isFinal: true };
    const { body, headers } = this.#request(delivery, ownHost);
    using limit = timeLimit(this.#times.timeoutMs, this.#stop.signal);
    let stopWaiting: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      stopWaiting = onAbort(limit.signal, () =>
        reject(limit.isOver ? new PostTimeout(this.#times.timeoutMs) : new Error('The request was aborted')),
      );
    });
    try {
      return judged(await Promise.race([sendOwn(path, body, headers, limit.signal), aborted]));
    } finally {
      stopWaiting?.();
    }
  }

  #request(delivery: ClaimedDelivery, hostname: string): { body: string; headers: Record<string, string> } {
    const { rules, secret } = this.#options;
    const body = deliveryBody(delivery.run, delivery.values, delivery.claimed_at);
    const configured = isOn(hostname, rules.secretDomains)
      ? [...rules.headers, ...rules.secretHeaders]
      : [...rules.headers];
    const headers = {
      ...Object.fromEntries(configured.map(([name, value]) => [name, value.reveal()])),
      'content-type': 'application/json',
      'svc-delivery-id': delivery.delivery_id,
      ...(secret ? { 'svc-signature': sign(secret.reveal(), body, delivery.claimed_at) } : {}),
    };
    return { body, headers };
  }

  #judge({ attempt, claimed_at }: ClaimedDelivery, answer: Answer, ms: number): DeliveryResult {
    const { status, error, isFinal } = answer;
    const entry = {
      at: claimed_at,
      ...(status === undefined ? {} : { status }),
      ...(error === undefined ? {} : { error }),
      ms,
    };
    if (error === undefined) return { status: 'delivered', retryMs: 0, attempt: entry };
    const pause = isFinal ? undefined : this.#times.backoffMs[attempt - 1];
    return pause === undefined
      ? { status: 'failed', retryMs: 0, attempt: entry }
      : { status: 'pending', retryMs: pause * (0.8 + 0.4 * Math.random()), attempt: entry };
  }

  get #attemptsMax(): number {
    return this.#times.backoffMs.length + 1;
  }
}

const charsOf = ({ run, values }: ClaimedDelivery): number => run.length + (values?.length ?? 0);

/** The webhook was delivered when there is no error. */
interface Answer {
  status?: number;
  error?: string;
  /** Whether another attempt would have the same result. */
  isFinal: boolean;
}

const judged = (status: number): Answer => {
  if (status >= 200 && status < 300) return { status, isFinal: true };
  if (status >= 300 && status < 400)
    return { status, error: `The answer was ${status}: redirects are not followed`, isFinal: true };
  return { status, error: `The answer was ${status}`, isFinal: status < 500 && !retried.has(status) };
};

/** Safe to show: holds no addresses and no text of the receiver. */
const reason = (error: unknown): string => {
  if (error instanceof EgressRefused) return `The URL ${error.message}`;
  if (error instanceof PostTimeout) return `There was ${error.message}`;
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' ? `The request failed: ${code}` : 'The request failed';
};

/** The run at its end, with its values. Both are JSON texts, and are not parsed, since values may be large. */
export const deliveryBody = (run: string, values: string | null, sentAt: string): string => {
  const head = JSON.stringify({ ...(JSON.parse(run) as object), webhook_sent_at: sentAt });
  return `${head.slice(0, -1)},"values":${values ?? 'null'}}`;
};

/** `t=<seconds>,v1=<hex>`: an HMAC-SHA256 of `<seconds>.<body>`. The time is signed so that receivers can reject old copies. */
export const sign = (secret: string, body: string, sentAt: string): string => {
  const seconds = Math.floor(Date.parse(sentAt) / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
};
