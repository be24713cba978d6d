// The ids under which checkpoints are stored. They are those of the engine, except after the clock went back: a checkpoint must sort after
// its parent. The body of such a checkpoint has the engine's id too, because the engine derives from it the ids of the tasks, and from
// these the namespaces of subgraphs and the ids of interrupts. A later attempt needs the same ones.
import { idAfter } from './checkpoint-id.ts';

export class StoredIds {
  /** By the engine's ids, and by themselves. */
  readonly #ids = new Map<string, string>();
  /** By namespace: the last id that was assigned. */
  readonly #last = new Map<string, string>();

  /** The stored id of an id of the engine. Unknown ids are stored ones. */
  of(engine_id: string): string {
    return this.#ids.get(engine_id) ?? engine_id;
  }

  record(engine_id: string, stored: string): void {
    this.#ids.set(engine_id, stored);
    this.#ids.set(stored, stored);
  }

  /** For a checkpoint that is put. */
  assign(ns: string, engine_id: string, parent: string | undefined): string {
    const known = this.#ids.get(engine_id);
    if (known !== undefined) return known;
    const stored = idAfter(engine_id, parent);
    this.record(engine_id, stored);
    this.#last.set(ns, stored);
    return stored;
  }

  /** For the writes of a checkpoint. They may come before its put, which waits for that of its parent: the checkpoint before, or `head`. */
  assignEarly(ns: string, engine_id: string, head: string | null | undefined): string {
    return this.assign(ns, engine_id, this.#last.get(ns) ?? head ?? undefined);
  }
}
