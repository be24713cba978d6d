// A reader of a thread's feed that is disconnected again and again, over SSE and WebSocket, at any node. It drops events that it knows.
import { isDeepStrictEqual } from 'node:util';
import { allChannels, type FeedEvent, nthRunEnd, readFeed } from '../thread-protocol/feed.ts';
import { openSocket } from '../thread-protocol/socket.ts';
import type { Random } from './random.ts';

export class FeedReader {
  readonly thread_id: string;
  /** In the order in which they were received first. */
  readonly events: FeedEvent[] = [];
  /** When it closed a connection before it had all events, in milliseconds since 1970. */
  readonly disconnectedAt: number[] = [];
  readonly #known = new Map<string, FeedEvent>();
  readonly #urls: readonly string[];
  readonly #random: Random;

  constructor(thread_id: string, urls: readonly string[], random: Random) {
    this.thread_id = thread_id;
    this.#urls = urls;
    this.#random = random;
  }

  /** Reads a few events, and closes the connection without a word. */
  async glance(runs: number): Promise<void> {
    let left = this.#random.between(1, 40);
    await this.#read(() => --left <= 0 || this.hasEnded(runs), runs);
    if (!this.hasEnded(runs)) this.disconnectedAt.push(Date.now());
  }

  /** Reads until the thread has this many ended runs. */
  readOn(runs: number): Promise<void> {
    return this.#read(() => this.hasEnded(runs), runs);
  }

  hasEnded(runs: number): boolean {
    return this.events.some(nthRunEnd(runs));
  }

  /** Reads all events, or those after the last one. After the end of the last run there are none. */
  async #read(isLast: () => boolean, runs: number): Promise<void> {
    const { thread_id } = this;
    const url = this.#random.pick(this.#urls);
    const last = this.events.at(-1);
    const resumes = !this.hasEnded(runs) && this.#random.next() < 0.5;
    const selection = last !== undefined && resumes ? { since: last.seq } : {};
    const take = (event: FeedEvent): boolean => {
      this.#take(event);
      return isLast();
    };
    if (this.#random.next() < 0.5) {
      await readFeed(url, thread_id, take, selection);
      return;
    }
    const socket = await openSocket(url, thread_id);
    let taken = 0;
    await socket.command('subscription.subscribe', { channels: allChannels, ...selection });
    await socket.until(() => {
      while (taken < socket.events.length) if (take(socket.events[taken++] as FeedEvent)) return true;
      return false;
    });
    socket.ws.terminate();
  }

  #take(event: FeedEvent): void {
    const known = this.#known.get(event.event_id);
    if (known === undefined) {
      this.#known.set(event.event_id, event);
      this.events.push(event);
    } else if (!isDeepStrictEqual(known, event))
      throw new Error(`An event has changed from ${JSON.stringify(known)} to ${JSON.stringify(event)}`);
  }
}
