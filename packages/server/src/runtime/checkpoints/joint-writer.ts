// Writers of one owner whose items belong together: each flush takes what all of them have gathered, or nothing of them.
import { noItems, type BatchItems, type Committer, type Writer } from './commit-queue.ts';
import type { Owner } from '../../storage/checkpoints.ts';

export class JointWriter implements Writer, Committer {
  readonly owner: Owner;
  readonly #queue: Committer;
  readonly #members: Writer[] = [];

  constructor(owner: Owner, queue: Committer) {
    this.owner = owner;
    this.#queue = queue;
  }

  /** From now on, in place of another member if there is one. */
  add(member: Writer, replaced?: Writer): void {
    const at = replaced ? this.#members.indexOf(replaced) : -1;
    if (at === -1) this.#members.push(member);
    else this.#members[at] = member;
  }

  /** Stores the items of all members. */
  commit(): Promise<void> {
    return this.#queue.commit(this);
  }

  drain(): BatchItems {
    const [first, ...others] = this.#members;
    const items = first?.drain() ?? noItems();
    for (const other of others) {
      for (const [kind, more] of Object.entries(other.drain())) {
        if (more.length > 0) (items[kind as keyof BatchItems] as object[]).push(...more);
      }
    }
    return items;
  }

  settled(isStored: boolean): void {
    for (const member of this.#members) member.settled?.(isStored);
  }
}
