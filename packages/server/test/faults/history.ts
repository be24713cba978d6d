// What clients did and were told, in order: the record that the database is held against.
import { appendFileSync } from 'node:fs';

export interface Frame {
  id: string;
  event: string;
  data: string;
}

/** What one connection to a stream brought. */
export interface Segment {
  frames: Frame[];
  /** `clean`: the server ended it; `left`: the client did; `broken`: neither. */
  end: 'clean' | 'left' | 'broken';
}

export type Entry =
  | { op: 'thread'; thread_id: string }
  /** The run was acknowledged. */
  | { op: 'run'; thread_id: string; run_id: string; marker: string; steps: number; strategy: string }
  /** Its outcome was told: the markers of the whole thread, or an error. */
  | { op: 'result'; thread_id: string; run_id: string; marker: string; log?: string[]; error?: string }
  | { op: 'stream'; thread_id: string; run_id: string; segments: Segment[] }
  /** Acknowledged after the run had ended; `checkpoints` is how many it had at that moment. */
  | { op: 'cancelled'; thread_id: string; run_id: string; checkpoints: number }
  /** The run was taken back: `before` are the ids of the checkpoints that the thread had without it. */
  | { op: 'rolled back'; thread_id: string; run_id: string; before: string[] }
  | { op: 'deleted'; thread_id: string; run_ids: string[] }
  /** A definite no that is no fault: the thread was busy, the run was over. */
  | { op: 'refused'; what: string; status: number; code: string }
  /** No definite answer within the client's patience, or one that no client should get. */
  | { op: 'failed'; what: string; status: number; detail: string }
  | { op: 'fault'; what: string };

export type Op = Entry['op'];

export class History {
  readonly #entries: (Entry & { at: number })[] = [];
  readonly #file: string | undefined;

  /** With a file, every entry is a line of JSON there as soon as it is made. */
  constructor(file?: string) {
    this.#file = file;
  }

  add(entry: Entry): void {
    const dated = { at: Math.round(performance.now()), ...entry };
    this.#entries.push(dated);
    if (this.#file) appendFileSync(this.#file, `${JSON.stringify(dated)}\n`);
  }

  all(): readonly (Entry & { at: number })[] {
    return this.#entries;
  }

  of<K extends Op>(op: K): Extract<Entry, { op: K }>[] {
    return this.#entries.filter(
      (entry): entry is Extract<Entry, { op: K }> & { at: number } => entry.op === op,
    );
  }
}
