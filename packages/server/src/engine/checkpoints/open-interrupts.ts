// The interrupts at which the root graph of a thread waits, by task id: those of the checkpoint that a session has loaded, and its own ones.
// A call within a task (functional API) has a task id of its own, and the task raises the same interrupt again: `ofTasks` leaves out the calls.
//
//   unknown ──load(), begin(), add()──▶ known
import type { PendingWrite } from '@langchain/langgraph-checkpoint';
import { StoredText } from '../codec/stored-text.ts';
import { isControl } from './task-writes.ts';

export class OpenInterrupts {
  #checkpoint_id: string | undefined;
  #byTask: Map<string, unknown[]> | undefined;

  /** The newest root checkpoint, of which they are. */
  get checkpoint_id(): string | undefined {
    return this.#checkpoint_id;
  }

  /** Undefined when no root checkpoint was loaded or created. */
  get known(): ReadonlyMap<string, unknown[]> | undefined {
    return this.#byTask;
  }

  /** In the order of `tasks`: those of the newest root checkpoint, if they are known. Undefined when no root checkpoint was loaded or created. */
  ofTasks(tasks: readonly { id: string }[] | undefined): ReadonlyMap<string, unknown[]> | undefined {
    const byTask = this.#byTask;
    if (!byTask || !tasks) return byTask;
    return new Map(
      tasks.flatMap(({ id }) => {
        const interrupts = byTask.get(id);
        return interrupts ? [[id, interrupts] as const] : [];
      }),
    );
  }

  /**
   * A root checkpoint was created. With durability `exit` it is put after the writes of its tasks, and an older one, which anchors changes of
   * delta channels, is put between.
   */
  begin(checkpoint_id: string): void {
    if (this.#checkpoint_id !== undefined && checkpoint_id <= this.#checkpoint_id) return;
    this.#checkpoint_id = checkpoint_id;
    this.#byTask = new Map();
  }

  /** The newest root checkpoint was loaded, with these writes, in any order, and these tasks, if its summary is stored. */
  load(
    checkpoint_id: string,
    writes: readonly [task_id: string, channel: string, value: unknown][],
    tasks?: readonly { id: string }[],
  ): void {
    this.begin(checkpoint_id);
    for (const [task_id, ...write] of writes) this.#ask(task_id, write);
    for (const [task_id, channel] of writes) this.#finish(task_id, channel);
    this.#byTask = new Map(this.ofTasks(tasks));
  }

  /** A task of a root checkpoint has written this. Changes of delta channels are written to an older checkpoint. */
  add(checkpoint_id: string, task_id: string, writes: readonly PendingWrite[]): void {
    if (this.#checkpoint_id !== undefined && checkpoint_id < this.#checkpoint_id) return;
    this.begin(checkpoint_id);
    for (const write of writes) this.#ask(task_id, write);
    for (const [channel] of writes) this.#finish(task_id, channel);
  }

  #ask(task_id: string, [channel, value]: PendingWrite): void {
    if (channel === '__interrupt__') this.#byTask?.set(task_id, [value].flat());
  }

  /** A task that has finished asks nothing any more. */
  #finish(task_id: string, channel: string): void {
    if (!isControl(channel)) this.#byTask?.delete(task_id);
  }
}

/** The ids of the interrupts of a task: one, or a list. Those of Python graphs are texts. */
export const idsOfInterrupts = (written: unknown): string[] =>
  [written].flat().flatMap((one: unknown) => {
    const interrupt = one instanceof StoredText ? (JSON.parse(one.text) as unknown) : one;
    const id = (interrupt as { id?: unknown } | null)?.id;
    return typeof id === 'string' ? [id] : [];
  });
