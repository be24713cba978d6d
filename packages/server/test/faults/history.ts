// A record of what clients did and which responses they got, in order; the database is checked against it.
import { appendFileSync } from 'node:fs';

export interface Frame {
  id: string;
  event: string;
  data: string;
}

/** What a client received on one connection to a stream. */
export interface Segment {
  frames: Frame[];
  /** `clean`: the server ended it; `disconnected`: the client did; `broken`: neither. */
  end: 'clean' | 'disconnected' | 'broken';
}

export type Entry =
  | { op: 'thread'; thread_id: string }
  /** The run was acknowledged. */
  | { op: 'run'; thread_id: string; run_id: string; marker: string; steps: number; strategy: string }
  /** The client got the outcome: the markers of the whole thread, or an error. */
  | { op: 'result'; thread_id: string; run_id: string; marker: string; log?: string[]; error?: string }
  | { op: 'stream'; thread_id: string; run_id: string; segments: Segment[] }
  /** Acknowledged after the run had ended; `checkpoints` is its number of checkpoints at that moment. */
  | { op: 'cancelled'; thread_id: string; run_id: string; checkpoints: number }
  /** The run was rolled back: `before` are the ids of the thread's checkpoints before it. */
  | { op: 'rolled back'; thread_id: string; run_id: string; before: string[] }
  | { op: 'deleted'; thread_id: string; run_ids: string[] }
  /** A definite rejection that is expected: the thread was busy, or the run had ended. */
  | { op: 'refused'; what: string; status: number; code: string }
  /** No definite response in time, or an unexpected one. */
  | { op: 'failed'; what: string; status: number; detail: string }
  | { op: 'fault'; what: string };

export type Op = Entry['op'];

export class History {
  readonly #entries: (Entry & { at: number })[] = [];
  readonly #file: string | undefined;

  /** With a file, every entry is appended to it as a line of JSON at once. */
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
