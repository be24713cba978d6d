// Threads that are interrupted, answered, and changed by state updates. An interrupt is often answered at a node of another release.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Answer, RequestSpec } from '../faults/caller.ts';
import type { BackgroundClient, ClientOptions } from './background-load.ts';

interface Conversation {
  thread_id: string;
  /** Acknowledged answers and state updates, in order. */
  log: string[];
  isInterrupted: boolean;
}

const threadsMax = 12;

export class ConversationClient implements BackgroundClient {
  readonly #options: ClientOptions;
  readonly #conversations: Conversation[] = [];
  readonly #acknowledged = { interrupts: 0, answers: 0, updates: 0 };

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async act(): Promise<void> {
    const conversation = await this.#choose();
    if (conversation.isInterrupted) return this.#answer(conversation);
    // A thread without a run has no graph, which a state update needs.
    const canUpdate = conversation.log.length > 0 && this.#options.random.next() < 0.3;
    return canUpdate ? this.#update(conversation) : this.#interrupt(conversation);
  }

  async check(): Promise<string[]> {
    const wrong: string[] = [];
    for (const { thread_id, log, isInterrupted } of this.#conversations) {
      const { body } = await this.#call({ method: 'GET', path: `/threads/${thread_id}/state` });
      const { values, next } = body as { values: { log?: string[] } | null; next: string[] };
      const found = values?.log ?? [];
      if (!isDeepStrictEqual(found, log))
        wrong.push(`thread ${thread_id} has ${found.join()} instead of ${log.join()}`);
      if (next.length > 0 !== isInterrupted) wrong.push(`thread ${thread_id} has next ${next.join()}`);
    }
    return wrong;
  }

  summary(): string {
    const { interrupts, answers, updates } = this.#acknowledged;
    return `${interrupts} interrupts, ${answers} answers, ${updates} state updates`;
  }

  async #choose(): Promise<Conversation> {
    const { random } = this.#options;
    if (this.#conversations.length >= threadsMax) return random.pick(this.#conversations);
    const thread_id = randomUUID();
    await this.#call({ method: 'POST', path: '/threads', body: { thread_id, if_exists: 'do_nothing' } });
    const conversation = { thread_id, log: [], isInterrupted: false };
    this.#conversations.push(conversation);
    return conversation;
  }

  async #interrupt(conversation: Conversation): Promise<void> {
    await this.#wait(conversation, { input: {} });
    // Not by `__interrupt__` in the result, which the previous release omits when the other node executes the run.
    const { body } = await this.#call({ method: 'GET', path: `/threads/${conversation.thread_id}` });
    if ((body as { status: string }).status !== 'interrupted')
      throw new Error(`thread ${conversation.thread_id} is not interrupted: ${JSON.stringify(body)}`);
    conversation.isInterrupted = true;
    this.#acknowledged.interrupts += 1;
  }

  async #answer(conversation: Conversation): Promise<void> {
    const answer = randomUUID().slice(0, 8);
    const { log = [] } = await this.#wait(conversation, { command: { resume: answer } });
    conversation.isInterrupted = false;
    conversation.log.push(answer);
    this.#acknowledged.answers += 1;
    if (!isDeepStrictEqual(log, conversation.log))
      throw new Error(
        `thread ${conversation.thread_id} has ${log.join()} instead of ${conversation.log.join()}`,
      );
  }

  /** A state update has no idempotency key: when no response arrives, it may be stored twice. The network of the test loses none. */
  async #update(conversation: Conversation): Promise<void> {
    const update = randomUUID().slice(0, 8);
    const body = { values: { log: [update] }, as_node: 'ask' };
    await this.#call({ method: 'POST', path: `/threads/${conversation.thread_id}/state`, body });
    conversation.log.push(update);
    this.#acknowledged.updates += 1;
  }

  /** Executes a run to its end. The key makes all tries create one run. */
  async #wait({ thread_id }: Conversation, more: object): Promise<{ log?: string[] }> {
    const { body } = await this.#call({
      method: 'POST',
      path: `/threads/${thread_id}/runs/wait`,
      headers: { 'idempotency-key': randomUUID() },
      body: { assistant_id: 'interrupter', ...more },
      tryMs: 20_000,
      totalMs: 60_000,
    });
    return body as { log?: string[] };
  }

  async #call(request: RequestSpec): Promise<Answer> {
    const answer = await this.#options.caller.call(request);
    if (answer.status < 300) return answer;
    throw new Error(
      `${request.method} ${request.path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`,
    );
  }
}
