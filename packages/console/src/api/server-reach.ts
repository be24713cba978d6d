// Whether the server can be reached. While it cannot, one probe with growing pauses replaces the requests of all queries and streams.

/** Pauses double from the first to the longest one. Each is shortened by up to a half at random: many pages return at different moments. */
const pauses = { firstMs: 1_000, maxMs: 15_000 };
const probeTimeoutMs = 10_000;

export interface ServerReachOptions {
  /** Sends the requests of the page. */
  fetch: typeof fetch;
  /** Resolves when the server answers, whatever its answer; rejects when it cannot be reached. */
  probe: (signal: AbortSignal) => Promise<unknown>;
  /** Between 0 and 1. */
  random?: () => number;
}

export const pauseMs = (failures: number, random: number): number =>
  Math.min(pauses.maxMs, pauses.firstMs * 2 ** (failures - 1)) * (1 - random / 2);

const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

const isRead = (method: string | undefined): boolean => method === undefined || method === 'GET';

const isStream = (input: RequestInfo | URL): boolean =>
  /\/(?:stream|runs\/changes)(?:\?|$)/.test(input instanceof Request ? input.url : String(input));

export class ServerReach {
  readonly #options: Required<ServerReachOptions>;
  readonly #subscribers = new Set<() => void>();
  #isAway = false;
  #isProbing = false;
  /** Resolves when the server is back; replaced when it is away again. */
  #back = Promise.resolve();
  #resolveBack = (): void => undefined;

  constructor(options: ServerReachOptions) {
    this.#options = { random: Math.random, ...options };
  }

  readonly isAway = (): boolean => this.#isAway;

  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  };

  /**
   * While the server is away, the GET of a stream waits until it is back, and the stream continues then. Other reads fail without a
   * request, because their queries pause. Changes are sent and fail at once: a button must not change something minutes after it was pressed.
   */
  readonly fetch: typeof fetch = async (input, init) => {
    if (!this.#isAway || !isRead(init?.method)) return this.#send(input, init);
    // As a browser names it.
    if (!isStream(input)) throw new TypeError('Failed to fetch');
    await this.#untilBack(init?.signal ?? undefined);
    return this.#send(input, init);
  };

  async #send(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    try {
      const response = await this.#options.fetch(input, init);
      this.#setAway(false);
      return response;
    } catch (error) {
      if (!isAbort(error)) void this.#probe();
      throw error;
    }
  }

  /** One loop, however many requests have failed. Its first probe decides whether the server is away, or one request was blocked. */
  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    for (let failures = 0; ;) {
      try {
        await this.#options.probe(AbortSignal.timeout(probeTimeoutMs));
        break;
      } catch {
        failures += 1;
        this.#setAway(true);
      }
      await untilLater(pauseMs(failures, this.#options.random()), this.#back);
      // Another request has reached the server meanwhile.
      if (!this.#isAway) break;
    }
    this.#isProbing = false;
    this.#setAway(false);
  }

  #setAway(isAway: boolean): void {
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway) this.#back = new Promise((resolve) => (this.#resolveBack = resolve));
    else this.#resolveBack();
    for (const subscriber of this.#subscribers) subscriber();
  }

  #untilBack(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal?.reason as Error);
      signal?.addEventListener('abort', abort, { once: true });
      void this.#back.then(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
    });
  }
}

/** Resolves after a time, or earlier with the promise. */
const untilLater = (ms: number, earlier: Promise<void>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void earlier.then(() => (clearTimeout(timer), resolve()));
  });
