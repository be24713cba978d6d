// Deletes default assistants of graphs that nothing executes any more, on an explicit command.
import type { Storage } from '../../storage/storage.ts';
import { servedWithinMs } from '../../storage/deployment/workers.ts';
import type { UnservedDefault } from '../../storage/deployment/assistants.ts';
import { defaultAssistantId } from './default-assistant.ts';

const previewMax = 1_000;

export class AssistantPruner {
  readonly #storage: Pick<Storage, 'assistants' | 'workers'>;
  readonly #kept: ReadonlySet<string>;

  /** `configured`: graphs of the configuration at hand; their assistants are kept though nothing executes them now. */
  constructor(storage: Pick<Storage, 'assistants' | 'workers'>, configured: readonly string[]) {
    this.#storage = storage;
    this.#kept = new Set(configured);
  }

  /** What prune() would delete, and what is deleted with it. */
  async preview(graphs?: readonly string[]): Promise<UnservedDefault[]> {
    const unserved = await this.#storage.assistants.unserved(servedWithinMs, previewMax);
    return unserved.filter(
      ({ assistant_id, graph_id }) =>
        !this.#kept.has(graph_id) &&
        (graphs === undefined || graphs.includes(graph_id)) &&
        // A default assistant may have been given another graph than its own; its own may be executed.
        assistant_id === defaultAssistantId(graph_id),
    );
  }

  async hasWorkers(): Promise<boolean> {
    return (await this.#storage.workers.queue(servedWithinMs)).workers > 0;
  }

  prune(assistant_id: string): Promise<'deleted' | 'missing' | 'served' | 'in_flight'> {
    return this.#storage.assistants.prune(assistant_id, servedWithinMs);
  }
}
