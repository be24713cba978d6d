// What an assistant's graph looks like: asked of an executor, where graphs live, and remembered per version.
import type { ExecutorPool } from '../../engine/dispatch/executor-pool.ts';
import type { IntrospectCommand } from '../../engine/dispatch/protocol.ts';
import { mergeConfigs } from '../../engine/dispatch/run-command.ts';
import type { AssistantRow } from '../../storage/deployment/assistants.ts';

type Question = Omit<IntrospectCommand, 'graph_id' | 'config'>;

const rememberedMax = 200;

export class IntrospectionService {
  readonly #pool: Pick<ExecutorPool, 'introspect'>;
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(pool: Pick<ExecutorPool, 'introspect'>) {
    this.#pool = pool;
  }

  /** Throws `invalid` with the reason when the graph cannot be loaded. */
  async ask(assistant: AssistantRow, question: Question): Promise<unknown> {
    const { assistant_id, graph_id, version, config, created_at } = assistant;
    // One that was deleted and made again counts its versions anew.
    const key = JSON.stringify([assistant_id, created_at, version, question]);
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#pool.introspect({
      ...question,
      graph_id,
      config: mergeConfigs({ assistant_id, graph_id }, config),
    });
    if (this.#answers.size >= rememberedMax)
      this.#answers.delete(this.#answers.keys().next().value as string);
    this.#answers.set(key, answer);
    // A failure may pass (an executor that just ended): it is not remembered.
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }
}
