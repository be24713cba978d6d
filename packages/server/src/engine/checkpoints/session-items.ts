// The items of a session that no flush has taken yet. Later items can amend them.
import type { NewWrite, StoredCheckpoint } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { type BatchItems, noItems } from './commit-queue.ts';
import { compareWrites } from './task-writes.ts';

/** A checkpoint of the session's thread. */
interface CheckpointOf {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string;
}

export class SessionItems {
  #items: BatchItems = noItems();
  /** The writes by primary key: one statement cannot store two rows with the same key. */
  readonly #writesByKey = new Map<string, NewWrite>();

  addCheckpoint(checkpoint: BatchItems['checkpoints'][number]): void {
    this.#items.checkpoints.push(checkpoint);
  }

  addEnding(ending: BatchItems['endings'][number]): void {
    this.#items.endings.push(ending);
  }

  /** Follows the rule of storage: of control writes (negative idx) with the same key the newest is kept, of other writes the first. */
  addWrite(write: NewWrite): void {
    const key = `${write.checkpoint_ns} ${write.checkpoint_id} ${write.task_id} ${write.idx}`;
    const earlier = this.#writesByKey.get(key);
    if (earlier === undefined) {
      this.#items.writes.push(write);
      this.#writesByKey.set(key, write);
    } else if (write.idx < 0) Object.assign(earlier, write);
  }

  /** Changes a checkpoint that was put. False when a flush has taken the checkpoint: the change is then stored as an item of its own. */
  amend(of: CheckpointOf, change: { shape?: string; wrote?: string }): boolean {
    const { checkpoints, summaries } = this.#items;
    const isIt = isOf(of.checkpoint_ns, of.checkpoint_id);
    const waiting = checkpoints.findLast(isIt) ?? summaries.find(isIt);
    if (waiting) Object.assign(waiting, change);
    else summaries.push({ ...of, shape: null, wrote: null, ...change });
    return waiting !== undefined;
  }

  get hasEnding(): boolean {
    return this.#items.endings.length > 0;
  }

  get isEmpty(): boolean {
    const { checkpoints, writes, summaries, endings } = this.#items;
    return checkpoints.length + writes.length + summaries.length + endings.length === 0;
  }

  /** The checkpoint with its writes. */
  find(ns: string, checkpoint_id: string): StoredCheckpoint | undefined {
    const checkpoint = this.#items.checkpoints.findLast(isOf(ns, checkpoint_id));
    return checkpoint && { checkpoint, writes: this.writesOf(ns, checkpoint_id) };
  }

  writesOf(ns: string, checkpoint_id: string): NewWrite[] {
    return this.#items.writes.filter(isOf(ns, checkpoint_id)).toSorted(compareWrites);
  }

  /** Returns the items and removes them. */
  take(): BatchItems {
    const items = this.#items;
    this.#items = noItems();
    this.#writesByKey.clear();
    return items;
  }
}

const isOf =
  (ns: string, id: string) =>
  ({ checkpoint_ns, checkpoint_id }: { checkpoint_ns: string; checkpoint_id: string }): boolean =>
    checkpoint_id === id && checkpoint_ns === ns;
