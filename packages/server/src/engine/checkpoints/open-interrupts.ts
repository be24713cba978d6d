// The interrupts at which the root graph of a thread waits, by task id: those of the checkpoint that a session has loaded, and its own ones.
//
//   unknown ──load(), add(), clear()──▶ known
import type { PendingWrite } from '@langchain/langgraph-checkpoint';
import { isControl } from './task-writes.ts';

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

  /** The newest root checkpoint was loaded, with these writes, in any order. */
  load(writes: readonly [task_id: string, channel: string, value: unknown][]): void {
    this.clear();
    for (const [task_id, ...write] of writes) this.#ask(task_id, write);
    for (const [task_id, channel] of writes) this.#finish(task_id, channel);
  }

  /** A task of the newest root checkpoint has written this. */
  add(task_id: string, writes: readonly PendingWrite[]): void {
    for (const write of writes) this.#ask(task_id, write);
    for (const [channel] of writes) this.#finish(task_id, channel);
  }

  #ask(task_id: string, [channel, value]: PendingWrite): void {
    if (channel === '__interrupt__') (this.#byTask ??= new Map()).set(task_id, [value].flat());
  }

  /** A task that has finished asks nothing any more. */
  #finish(task_id: string, channel: string): void {
    if (!isControl(channel)) this.#byTask?.delete(task_id);
  }
}
