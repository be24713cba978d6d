// Deletes default assistants of graphs that no worker executes any more, for `svc assistants prune`.
import type { Storage } from '../../storage/storage.ts';
import { servedWithinMs } from '../../storage/deployment/workers.ts';
import type { UnservedDefault } from '../../storage/deployment/assistants/assistants.ts';
import { defaultAssistantId } from './default-assistant.ts';

const previewMax = 1_000;

export class AssistantPruner {
  readonly #storage: Pick<Storage, 'assistants' | 'workers'>;
  readonly #kept: ReadonlySet<string>;

  /** `configured`: graphs of the local configuration, whose default assistants are kept. */
  constructor(storage: Pick<Storage, 'assistants' | 'workers'>, configured: readonly string[]) {
    this.#storage = storage;
    this.#kept = new Set(configured);
  }

  /** The assistants that prune() would delete, and what would be deleted with each. */
  async preview(graphs?: readonly string[]): Promise<UnservedDefault[]> {
    const unserved = await this.#storage.assistants.unserved(servedWithinMs, previewMax);
    return unserved.filter(
      ({ assistant_id, graph_id }) =>
        !this.#kept.has(graph_id) &&
        (graphs === undefined || graphs.includes(graph_id)) &&
        // A default assistant may have been assigned to another graph; then its original graph may still be executed.
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
