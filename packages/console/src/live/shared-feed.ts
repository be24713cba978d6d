// The feed of run changes, once for all tabs of a browser: browsers open few connections to a server. The tab that has the lock reads the feed and
// passes it on; when it is closed, the next tab gets the lock. Without locks, which exist over TLS and on this machine only, each tab
// reads for itself.
import type { RunFeedEvent, RunSummary } from '@svc/sdk';

/** `off`: there is no feed. Lists are polled unless the feed is `live`. */
export type FeedState = 'off' | 'opening' | 'live' | 'lost';

/** What a tab passes on. `read again`: changes may have been missed. */
type Message =
  | { kind: 'state'; state: FeedState }
  | { kind: 'run'; run: RunSummary }
  | { kind: 'read again' }
  | { kind: 'hello' };

export interface FeedListener {
  onRun: (run: RunSummary) => void;
  onReadAgain: () => void;
}

export interface SharedFeedOptions {
  /** The same in all tabs that show this server. */
  name: string;
  read: (signal: AbortSignal) => AsyncIterable<RunFeedEvent>;
  /** Milliseconds without a message after which the tab that reads counts as gone. */
  silenceMs?: number;
  /** Milliseconds until a feed that has failed is opened again. */
  retryMs?: number;
}

const defaults = { silenceMs: 45_000, retryMs: 30_000 };

export class SharedFeed {
  readonly #options: Required<SharedFeedOptions>;
  readonly #subscribers = new Set<() => void>();
  readonly #listeners = new Set<FeedListener>();
  #state: FeedState = 'off';

  constructor(options: SharedFeedOptions) {
    this.#options = { ...defaults, ...options };
  }

  readonly subscribe = (subscriber: () => void): (() => void) => {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  };

  readonly state = (): FeedState => this.#state;

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes part until the returned function is called. */
  start(): () => void {
    const stop = new AbortController();
    const { signal } = stop;
    const { name, silenceMs } = this.#options;
    const channel = new BroadcastChannel(name);
    let isReading = false;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const take = (message: Message): void => {
      clearTimeout(silence);
      if (!isReading) silence = setTimeout(() => this.#setState('lost'), silenceMs);
      this.#take(message);
    };
    const pass = (message: Message): void => {
      if (signal.aborted) return;
      channel.postMessage(message);
      take(message);
    };
    channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (data.kind !== 'hello') take(data);
      else if (isReading) channel.postMessage({ kind: 'state', state: this.#state } satisfies Message);
    });
    const lead = (): Promise<void> => {
      isReading = true;
      clearTimeout(silence);
      return this.#read(pass, signal);
    };
    this.#setState('opening');
    channel.postMessage({ kind: 'hello' } satisfies Message);
    // Rejects when the feed is stopped before this tab has got the lock.
    if ('locks' in navigator) navigator.locks.request(name, { signal }, lead).catch(() => undefined);
    else void lead();
    return () => {
      stop.abort();
      clearTimeout(silence);
      channel.close();
      this.#setState('off');
    };
  }

  /** Reads until the signal is aborted. */
  async #read(pass: (message: Message) => void, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        let isNew = true;
        for await (const change of this.#options.read(signal)) {
          if (change.event === 'lost') {
            pass({ kind: 'state', state: 'lost' });
            continue;
          }
          // Repeated, so that other tabs know that this one still reads.
          pass({ kind: 'state', state: 'live' });
          if (change.event === 'run') pass({ kind: 'run', run: change.run });
          else if (isNew || change.event === 'gap') pass({ kind: 'read again' });
          isNew = false;
        }
      } catch {
        // The server refuses it: the caller may not read threads, for example. Their queries show why.
      }
      if (signal.aborted) return;
      pass({ kind: 'state', state: 'off' });
      await untilLater(this.#options.retryMs, signal);
      if (signal.aborted) return;
    }
  }

  #take(message: Message): void {
    if (message.kind === 'state') return this.#setState(message.state);
    for (const listener of this.#listeners) {
      if (message.kind === 'run') listener.onRun(message.run);
      else listener.onReadAgain();
    }
  }

  #setState(state: FeedState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const subscriber of this.#subscribers) subscriber();
  }
}

/** Resolves after a time, or when the signal is aborted. */
const untilLater = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
