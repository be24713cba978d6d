// Joins writes of concurrent callers: writes that arrive while another is executed are stored together, by one statement and one commit. A
// write that arrives alone is executed at once.
//
//   waiting ──fewer than two groups in flight, or patience is over──▶ in flight ──▶ stored
//                                                           └─ refused because of some of them ──▶ each alone
import pg from 'pg';
import { originalError, policyOf } from './sql-state.ts';

export interface WriteKind<Input, Output> {
  one: (input: Input) => Promise<Output>;
  /** Stores the inputs in one transaction. The outputs are in the order of the inputs; an output that takes longer is a promise. */
  several: (inputs: Input[]) => Promise<(Output | Promise<Output>)[]>;
  bytesOf: (input: Input) => number;
}

/** Writes of one statement, and their bytes. */
const groupMax = { writes: 100, bytes: 1_048_576 };
/** How long a write waits for a group in flight, which may wait for a lock. */
const patienceMs = 20;
/** Groups that are stored at the same time. */
const groupsMax = 2;

interface Waiting<Input, Output> {
  input: Input;
  bytes: number;
  resolve: (output: Output | Promise<Output>) => void;
  reject: (error: unknown) => void;
}

export class GroupedWrites<Input, Output> {
  readonly #kind: WriteKind<Input, Output>;
  #waiting: Waiting<Input, Output>[] = [];
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(kind: WriteKind<Input, Output>) {
    this.#kind = kind;
  }

  write(input: Input): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, bytes: this.#kind.bytesOf(input), resolve, reject });
      this.#proceed();
    });
  }

  #proceed(): void {
    if (this.#waiting.length === 0) return;
    if (this.#inFlight < groupsMax) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), patienceMs);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#take();
    this.#inFlight += 1;
    this.#proceed();
    void this.#store(group).finally(() => {
      this.#inFlight -= 1;
      this.#proceed();
    });
  }

  #take(): Waiting<Input, Output>[] {
    let bytes = 0;
    let count = 0;
    for (const write of this.#waiting) {
      bytes += write.bytes;
      if (count === groupMax.writes || (count > 0 && bytes > groupMax.bytes)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Never rejects. */
  async #store(group: Waiting<Input, Output>[]): Promise<void> {
    if (group.length === 1) return this.#storeEach(group);
    try {
      const outputs = await this.#kind.several(group.map(({ input }) => input));
      for (const [at, { resolve }] of group.entries()) resolve(outputs[at] as Output | Promise<Output>);
    } catch (error) {
      if (isOfOne(error)) return this.#storeEach(group);
      for (const { reject } of group) reject(error);
    }
  }

  async #storeEach(group: Waiting<Input, Output>[]): Promise<void> {
    await Promise.all(group.map(({ input, resolve, reject }) => this.#kind.one(input).then(resolve, reject)));
  }
}

/** A lock timeout; and no room for further locks, of which a group holds some for each of its writes. */
const refusals = new Set(['55P03', '53200']);

/** True when the database refused the statement because of one of the writes, or of their number, so nothing was stored. */
const isOfOne = (error: unknown): boolean => {
  const origin = originalError(error);
  if (!(origin instanceof pg.DatabaseError)) return false;
  return refusals.has(origin.code ?? '') || policyOf(origin).kind !== 'unavailable';
};
