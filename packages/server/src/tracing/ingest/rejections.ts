// The rejected runs of a batch: all are counted, the first ones are listed in the response. Stored runs that differ from what was sent are
// listed too.
import type { Rejection } from './sent-run.ts';

/** Maximum number of rejections that a response lists. */
const namedMax = 100;

export class Rejections {
  readonly named: Rejection[] = [];
  count = 0;

  add(id: string | null, message: string): void {
    this.addAll([{ id, message }], 1);
  }

  /** Lists a run that was stored, and how it differs from what was sent. */
  note(id: string, message: string): void {
    this.addAll([{ id, message }], 0);
  }

  addAll(named: readonly Rejection[], count: number): void {
    this.count += count;
    for (const one of named) if (this.named.length < namedMax) this.named.push(one);
  }
}
