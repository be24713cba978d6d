// The interrupts at which the root graph of a thread waits, by task id: those of the checkpoint that a session has loaded, and its own ones.
//
//   unknown ──load(), add(), clear()──▶ known
import { type PendingWrite, WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';

export class OpenInterrupts {
  #byTask: Map<string, unknown[]> | undefined;

  /** Undefined when no root checkpoint was loaded or created. */
  get known(): ReadonlyMap<string, unknown[]> | undefined {
    return this.#byTask;
  }

  /** The newest root checkpoint was created: none of its tasks has asked. */
  clear(): void {
    this.#byTask = new Map();
  }

  /** The newest root checkpoint was loaded, with these writes. */
  load(writes: readonly [task_id: string, channel: string, value: unknown][]): void {
    this.clear();
    // First the interrupts: writes have no order.
    const [asking, others] = [true, false].map((asks) =>
      writes.filter(([, channel]) => (channel === '__interrupt__') === asks),
    );
    for (const [task_id, ...write] of [...(asking ?? []), ...(others ?? [])]) this.add(task_id, [write]);
  }

  /** A task of the newest root checkpoint has written this. */
  add(task_id: string, writes: readonly PendingWrite[]): void {
    for (const [channel, value] of writes) {
      if (channel !== '__interrupt__') continue;
      this.#byTask ??= new Map();
      this.#byTask.set(task_id, [value].flat());
    }
    this.#finish(task_id, writes);
  }

  /** A task that has finished asks nothing any more. Control writes, such as those of an answer, do not finish it. */
  #finish(task_id: string, writes: readonly PendingWrite[]): void {
    if (writes.some(([channel]) => (WRITES_IDX_MAP[channel] ?? 0) >= 0)) this.#byTask?.delete(task_id);
  }
}
