// Describes the graphs of assistants. Executors answer, since they load graphs; answers are cached per version.
import type { ExecutorPool } from '../../engine/dispatch/executor-pool.ts';
import type { IntrospectCommand } from '../../engine/dispatch/protocol.ts';
import { mergeConfigs } from '../../engine/dispatch/run-command.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';

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
    // The creation time is part of the key, because an assistant that is deleted and created again restarts its versions.
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
    // Failures are not cached: they may be temporary, such as an executor that ended.
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }
}
