// A WebSocket of thread protocol v2: commands in, their responses and the events of the subscriptions out.
import {
  type CommandEnvelope,
  type SubscriptionMethod,
  subscriptionParams,
  threadProtocolRoutes,
} from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Call } from '../../../api/handlers.ts';
import type { SocketListener, SocketPeer } from '../../../api/sockets.ts';
import { Refusal } from '../../../auth/authorization/refusal.ts';
import { isRecord } from '../../../json/is-record.ts';
import { CommandError, parsed } from '../command-error.ts';
import type { CommandCall } from '../run-commands.ts';
import { answerCommand, commandCall, executeCommand, type ThreadCommands } from '../thread-commands.ts';
import type { ThreadEventFeed } from '../thread-event-feed.ts';
import { SocketSubscriptions } from './socket-subscriptions.ts';

export interface ThreadSocketParts {
  commands: ThreadCommands;
  feed: ThreadEventFeed;
}

const isSubscription = (method: string): method is SubscriptionMethod =>
  Object.hasOwn(subscriptionParams, method);

/** Commands that start runs are executed one after the other, so that the runs are queued in the order of the messages. */
const starting: ReadonlySet<string> = new Set(['run.start', 'input.respond', 'state.fork']);

export class ThreadSocket implements SocketListener {
  readonly #commands: ThreadCommands;
  readonly #thread_id: string;
  readonly #peer: SocketPeer;
  readonly #subscriptions: SocketSubscriptions;
  #started: Promise<unknown> = Promise.resolve();

  constructor({ commands, feed }: ThreadSocketParts, thread_id: string, peer: SocketPeer) {
    this.#commands = commands;
    this.#thread_id = thread_id;
    this.#peer = peer;
    this.#subscriptions = new SocketSubscriptions(feed, thread_id, peer);
  }

  async receive(value: unknown): Promise<void> {
    let envelope: CommandEnvelope;
    try {
      envelope = parsed(threadProtocolRoutes.sendThreadCommand.body, value, 'command');
    } catch (error) {
      return this.#refuse(idOf(value), error);
    }
    const begin = envelope.method === 'subscription.subscribe' ? this.#subscriptions.delay() : undefined;
    try {
      if (!starting.has(envelope.method)) return await this.#answer(envelope);
      const before = this.#started;
      const answered = before.then(() => this.#answer(envelope));
      this.#started = answered.catch(() => undefined);
      await answered;
    } catch (error) {
      this.#refuse(envelope.id, error);
    } finally {
      begin?.();
    }
  }

  receiveFault(problem: Problem): void {
    this.#refuse(null, new CommandError('invalid_argument', problem.message));
  }

  stop(): void {
    this.#subscriptions.stop();
  }

  async #answer(envelope: CommandEnvelope): Promise<void> {
    const call = await this.#call();
    if (call === undefined) return;
    const command = commandCall(this.#thread_id, envelope, { call });
    let begin: (() => void) | undefined;
    const response = await answerCommand(command, async () => {
      if (!isSubscription(envelope.method)) return executeCommand(this.#commands, command);
      const subscribed = await this.#subscribe(envelope.method, command);
      begin = subscribed.begin;
      return subscribed.result;
    });
    this.#peer.send(JSON.stringify(response));
    // The response comes before the events.
    begin?.();
  }

  /** Closes the connection if the credentials of the caller are no longer accepted. */
  async #call(): Promise<Call | undefined> {
    try {
      return await this.#peer.call();
    } catch (error) {
      const isFinal =
        error instanceof Refusal || (error instanceof Problem && error.code === 'unauthenticated');
      if (!isFinal) throw error;
      this.#peer.fail(error);
      return undefined;
    }
  }

  async #subscribe(
    method: SubscriptionMethod,
    { params, call }: CommandCall,
  ): Promise<{ result: object; begin?: () => void }> {
    const subscriptions = this.#subscriptions;
    if (method === 'subscription.subscribe') {
      const selection = parsed(subscriptionParams[method], params, 'params');
      const { subscription_id, begin } = await subscriptions.add(selection, call);
      // The retained events are read after the response, so they are not counted.
      return { result: { subscription_id, replayed_events: 0 }, begin };
    }
    await subscriptions.authorize(call);
    const { subscription_id } = parsed(subscriptionParams[method], params, 'params');
    subscriptions.remove(subscription_id);
    return { result: {} };
  }

  #refuse(id: number | null, error: unknown): void {
    const { code, message } =
      error instanceof CommandError
        ? error
        : { code: 'unknown_error', message: this.#peer.report(error).message };
    const meta = { thread_id: this.#thread_id };
    this.#peer.send(JSON.stringify({ type: 'error', id, error: code, message, meta }));
  }
}

const idOf = (value: unknown): number | null => {
  const id = isRecord(value) ? value['id'] : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : null;
};
