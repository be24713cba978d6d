// Sends due webhooks of runs of all nodes. Each attempt is a claim with a lease: if its server dies, the lease ends, and another server
// repeats the attempt with the same delivery id.
//
//   2xx ──▶ delivered        408, 425, 429, 5xx, no response ──▶ retry after a pause, until the attempts are used up
//   any other response, or a target that is not allowed ──▶ failed
//
// Origins take turns, and each gets few slots, so that slow receivers do not delay the others.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Secret } from '../../config/settings/secret.ts';
import type { WebhookRules } from '../../config/project/webhooks.ts';
import { EgressRefused, type EgressGuard, isOn } from '../../net/guard.ts';
import { post, PostTimeout } from '../../net/post.ts';
import type {
  ClaimedDelivery,
  DeliveryResult,
  DeliveryStorage,
} from '../../storage/deployment/webhook-deliveries.ts';
import { deliveryBody, sign } from './delivery-body.ts';

export interface WebhookTimes {
  /** Time limit of one request, from the DNS lookup to the last byte of the response. */
  timeoutMs: number;
  /** Lease of an attempt; longer than `timeoutMs`. After it, another server retries. */
  leaseMs: number;
  /** Pauses after the first, second, … failure, ±20 % at random. There is one attempt more than pauses. */
  backoffMs: readonly number[];
  /** Interval of polls, which find deliveries whose notification was lost. */
  pollMs: number;
  /** How long a stopping server waits for responses. */
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
  guard: EgressGuard;
  rules: WebhookRules;
  /** Undefined: webhooks are not signed. */
  secret: Secret | undefined;
  logger: Logger;
  times?: Partial<WebhookTimes>;
}

/** Maximum number of concurrent deliveries. */
const sendingMax = 128;
/** Concurrent deliveries per origin. */
const perOrigin = 4;
/** Concurrent deliveries to origins that did not respond last time, at most one each. The other slots are for the other origins. */
const silentMax = sendingMax / 2;
/** Number of unresponsive origins that are remembered. */
const silentOriginsMax = 1_000;
/** Deliveries per claim. */
const claimMax = 8;
/** Characters of all bodies in flight; a single body may be larger. */
const bodyCharsMax = 64_000_000;
const responseBytesMax = 65_536;
const retried = new Set([408, 425, 429]);

export class WebhookSender implements AsyncDisposable {
  readonly #options: WebhookSenderOptions;
  readonly #times: WebhookTimes;
  readonly #sending = new Map<ClaimedDelivery, Promise<void>>();
  readonly #silent = new LRUCache<string, true>({ max: silentOriginsMax });
  /** The last origin of the previous claim; the next claim continues after it, so that origins take turns. */
  #after = '';
  #bodyChars = 0;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  #closing = false;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#times = { ...webhookTimes, ...options.times };
    setMaxListeners(sendingMax, this.#stop.signal);
    this.#timer = setInterval(() => this.wake(), this.#times.pollMs);
  }

  /** Called when a delivery was queued or a slot became free. */
  wake(): void {
    if (this.#closing) return;
    if (this.#claiming) {
      this.#claimAgain = true;
      return;
    }
    this.#claiming = this.#claimAll()
      .catch((error: unknown) =>
        this.#options.logger.error({ err: error }, 'failed to claim webhooks; retrying'),
      )
      .finally(() => {
        this.#claiming = undefined;
        if (!this.#claimAgain) return;
        this.#claimAgain = false;
        this.wake();
      });
  }

  /** Waits shortly for pending responses, then releases the other deliveries to other servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    await this.#claiming;
    const graceOver = new AbortController();
    const grace = sleep(this.#times.graceMs, undefined, { signal: graceOver.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#sending.values()), grace]);
    graceOver.abort();
    this.#stop.abort();
    await Promise.all(this.#sending.values());
  }

  /** Claims from all origins in turn, until a whole turn finds nothing or there is no free slot. */
  async #claimAll(): Promise<void> {
    const { deliveries } = this.#options;
    let isWholeTurn = this.#after === '';
    let claimedInTurn = 0;
    for (;;) {
      const count = Math.min(sendingMax - this.#sending.size, claimMax);
      if (this.#closing || count <= 0 || this.#bodyChars > bodyCharsMax) return;
      const place = { busy: this.#busy(), after: this.#after };
      const { claimed, resumeAfter } = await deliveries.claim(count, this.#times.leaseMs, place);
      for (const delivery of claimed) this.#start(delivery);
      claimedInTurn += claimed.length;
      this.#after = resumeAfter ?? '';
      if (resumeAfter !== null) continue;
      if (isWholeTurn && claimedInTurn === 0) return;
      isWholeTurn = true;
      claimedInTurn = 0;
    }
  }

  /** Origins that get no more slots at the moment. */
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
      // The lease ends, and the delivery is retried.
      .catch((error: unknown) =>
        this.#options.logger.error(
          { err: error, delivery_id: delivery.delivery_id },
          'webhook attempt failed unexpectedly',
        ),
      )
      .finally(() => {
        this.#sending.delete(delivery);
        this.#bodyChars -= charsOf(delivery);
        this.wake();
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
      logger.warn(facts, 'webhook response came after the end of the lease');
    else if (result.status === 'failed') logger.warn(facts, 'webhook failed permanently');
    else if (result.status === 'pending') logger.info(facts, 'webhook failed; will be retried');
  }

  async #send(delivery: ClaimedDelivery): Promise<Answer> {
    const { guard, rules, secret } = this.#options;
    if (delivery.attempt > this.#attemptsMax)
      return { error: 'The server was lost during every attempt', isFinal: true };
    try {
      // Checked again, because the rules may have changed since the run was created.
      const target = guard.check(delivery.url, rules.url);
      const body = deliveryBody(delivery.run, delivery.values, delivery.claimed_at);
      const configured = isOn(target.url.hostname, rules.secretDomains)
        ? [...rules.headers, ...rules.secretHeaders]
        : [...rules.headers];
      const headers = {
        ...Object.fromEntries(configured.map(([name, value]) => [name, value.reveal()])),
        'content-type': 'application/json',
        'svc-delivery-id': delivery.delivery_id,
        ...(secret ? { 'svc-signature': sign(secret.reveal(), body, delivery.claimed_at) } : {}),
      };
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

/** Result of a request; without an error, the webhook was delivered. */
interface Answer {
  status?: number;
  error?: string;
  /** True when a retry would not help. */
  isFinal: boolean;
}

const judged = (status: number): Answer => {
  if (status >= 200 && status < 300) return { status, isFinal: true };
  if (status >= 300 && status < 400)
    return { status, error: `The answer was ${status}: redirects are not followed`, isFinal: true };
  return { status, error: `The answer was ${status}`, isFinal: status < 500 && !retried.has(status) };
};

/** Safe to show to users: without IP addresses and texts of other servers. */
const reason = (error: unknown): string => {
  if (error instanceof EgressRefused) return `The URL ${error.message}`;
  if (error instanceof PostTimeout) return `There was ${error.message}`;
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' ? `The request failed: ${code}` : 'The request failed';
};
