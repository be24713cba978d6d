// The subscriptions of one WebSocket. One feed of the thread serves all of them: events are sent in order, and an event that several
// subscriptions select is sent once, because the stock client passes it to all of them. A new subscription restarts the feed at the first event
// that it needs. The feed then reads some events again, and sends those that a subscription has not got yet. Subscriptions that arrive together
// begin together: if one began before, its events would be sent before older events of the others, and the stock client does not show what it
// gets after the end of a run.
import { randomUUID } from 'node:crypto';
import type { EventSelection } from '@svc/contract';
import { notFound } from '@svc/contract/problem';
import type { Call, StreamEvent } from '../../../api/handlers.ts';
import type { SocketPeer } from '../../../api/sockets.ts';
import { CommandError } from '../command-error.ts';
import { type EventFilter, eventFilter } from '../event-filter.ts';
import { feedReader, type FeedReader, type ThreadEventFeed } from '../thread-event-feed.ts';
import { type NumberedEvent, channels } from '../translation/protocol-event.ts';

interface Subscription extends EventFilter {
  /** False until the response to `subscription.subscribe` was sent. */
  isActive: boolean;
  /** `seq` of the newest event that was sent to this subscription or filtered out. */
  through: number;
  /**
   * `since` of the subscription, or `seq` of the newest event that the feed read from a run in flight. Events of a replayed run do not count:
   * otherwise a restarted feed would send the end of that run to a subscription that has only replayed events of it.
   */
  joined: number;
}

const subscriptionsMax = 100;

export class SocketSubscriptions {
  readonly #feed: ThreadEventFeed;
  readonly #thread_id: string;
  readonly #peer: SocketPeer;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Stops the current feed. */
  #stopFeed: (() => void) | undefined;
  #isStopped = false;
  /** Number of subscriptions that are being added. */
  #adding = 0;
  /** The reader of the newest subscription that has not begun yet. */
  #waiting: FeedReader | undefined;

  constructor(feed: ThreadEventFeed, thread_id: string, peer: SocketPeer) {
    this.#feed = feed;
    this.#thread_id = thread_id;
    this.#peer = peer;
  }

  /** Adds a subscription. Its events are sent after `begin` is called. */
  async add(
    { since, ...selection }: EventSelection,
    call: Call,
  ): Promise<{ subscription_id: string; begin: () => void }> {
    const reader = await this.authorize(call);
    this.#assertRoom();
    await this.#feed.assertReadable(reader);
    this.#assertRoom();
    const subscription_id = randomUUID();
    const through = since ?? -1;
    const subscription = { ...eventFilter(selection), through, joined: through, isActive: false };
    this.#subscriptions.set(subscription_id, subscription);
    const begin = (): void => {
      subscription.isActive = true;
      this.#waiting = reader;
      this.#beginWaiting();
    };
    return { subscription_id, begin };
  }

  /** Subscriptions do not begin until the returned function is called. */
  delay(): () => void {
    this.#adding += 1;
    return () => {
      this.#adding -= 1;
      this.#beginWaiting();
    };
  }

  /** Throws `no_such_subscription`. */
  remove(subscription_id: string): void {
    if (!this.#subscriptions.delete(subscription_id))
      throw new CommandError('no_such_subscription', `Subscription ${subscription_id} not found`);
    if (this.#subscriptions.size === 0) this.#stopFeed?.();
  }

  authorize(call: Call): Promise<FeedReader> {
    return feedReader(call, this.#thread_id);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopFeed?.();
  }

  #beginWaiting(): void {
    const reader = this.#waiting;
    if (reader === undefined || this.#adding > 0) return;
    this.#waiting = undefined;
    this.#read(reader);
  }

  /** Restarts the feed, with the rights of the newest subscription, after the lowest `through` of all subscriptions. */
  #read(reader: FeedReader): void {
    this.#stopFeed?.();
    if (this.#isStopped) return;
    let isStopped = false;
    const all = [...this.#subscriptions.values()].filter(({ isActive }) => isActive);
    const filter = {
      isSelected: (event: NumberedEvent, _: number, isReplay: boolean) =>
        !isStopped && this.#isWanted(event, isReplay),
      isNarrow: all.some(({ isNarrow }) => isNarrow),
      unread: new Set(channels.filter((channel) => all.every(({ unread }) => unread.has(channel)))),
    };
    const fail = (error: unknown): void => {
      if (!isStopped) this.#peer.fail(error);
    };
    const since = Math.min(...all.map(({ through }) => through));
    const stop = new AbortController();
    const sink = {
      send: ({ data }: StreamEvent) => this.#peer.send(data),
      drained: () => this.#peer.drained(),
    };
    this.#feed
      .read({ ...reader, filter, since }, sink, stop.signal)
      .then(() => fail(notFound('Thread', this.#thread_id)), fail);
    this.#stopFeed = () => {
      isStopped = true;
      stop.abort();
    };
  }

  #assertRoom(): void {
    if (this.#subscriptions.size >= subscriptionsMax)
      throw new CommandError(
        'invalid_argument',
        `This socket has ${subscriptionsMax} subscriptions, which is the limit`,
      );
  }

  #isWanted(event: NumberedEvent, isReplay: boolean): boolean {
    let isWanted = false;
    for (const subscription of this.#subscriptions.values()) {
      if (!subscription.isActive || event.seq <= subscription.through) continue;
      subscription.through = event.seq;
      isWanted ||= subscription.isSelected(event, subscription.joined, isReplay);
      if (!isReplay) subscription.joined = event.seq;
    }
    return isWanted;
  }
}
