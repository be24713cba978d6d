// What of a batch was rejected: all of it is counted, and the first of it is named in the answer.
import type { Rejection } from './sent-run.ts';

/** A batch may have a million faults. */
const namedMax = 100;

export class Rejections {
  readonly named: Rejection[] = [];
  count = 0;

  add(id: string | null, message: string): void {
    this.addAll([{ id, message }], 1);
  }

  addAll(named: readonly Rejection[], count: number): void {
    this.count += count;
    for (const one of named) if (this.named.length < namedMax) this.named.push(one);
  }
}
