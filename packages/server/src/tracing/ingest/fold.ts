// Merges several writes of one trace run into one write, with the result that ingest_runs() has when it stores them one after the other.
//
// Every field has the rank of the write that set it. The highest rank has priority; of equal ranks, the last write. `ranks` lists the
// fields whose rank does not follow from `rank` and `patched` of the merged write, as trace_merge() does.
import {
  metadataBit,
  sentStartBit,
  startTimeBit,
  type TraceField,
  traceFieldNames,
  traceFields,
} from '../../storage/tracing/trace-columns.ts';
import type { NewRunWrite } from './run-write.ts';

type Labels = Record<string, unknown>;

/** Ranks by bit, and under `m` by metadata key. */
type Ranks = Record<string, number | Record<string, number>>;

class FoldedRun {
  readonly #first: NewRunWrite;
  readonly #writes: string[] = [];
  readonly #fields: NewRunWrite['fields'] = {};
  readonly #metadata = new Map<string, { value: unknown; rank: number }>();
  /** The text as it was sent, while only one write has metadata. */
  #metadataText: string | undefined;
  readonly #rankOfBit = new Map<number, number>();
  #rank = 0;
  #patched = 0;
  #start_time: string | null = null;
  #session_name: string | undefined;

  constructor(first: NewRunWrite) {
    this.#first = first;
  }

  /** Writes are added in the order of their ranks. */
  add(write: NewRunWrite): void {
    this.#rank = Math.max(this.#rank, write.rank);
    this.#writes.push(...write.writes);
    for (const name of traceFieldNames) this.#addField(name, write);
    this.#addProject(write);
    this.#addStart(write);
    this.#addMetadata(write);
    this.#patched |= write.patched;
  }

  #addField(name: TraceField, write: NewRunWrite): void {
    const value = write.fields[name] ?? null;
    if (value === null || name === 'session_id') return;
    this.#fields[name] = value;
    this.#setRank(traceFields[name], write);
  }

  /** A project is given by its id or by its name. */
  #addProject(write: NewRunWrite): void {
    const session_id = write.fields.session_id ?? null;
    if (session_id === null && write.session_name === undefined) return;
    this.#fields.session_id = session_id;
    this.#session_name = write.session_name;
    this.#setRank(traceFields.session_id, write);
  }

  #addStart(write: NewRunWrite): void {
    if (write.start_time === null) return;
    const isSent = (write.patched & sentStartBit) !== 0;
    const wasSent = (this.#patched & sentStartBit) !== 0;
    // A start that is derived from a path counts only while no write has sent one. Of two paths, the last one counts.
    const isKept = isSent || (!wasSent && (write.fields.dotted_order ?? null) !== null);
    if (this.#start_time !== null && !isKept) return;
    this.#start_time = write.start_time;
    this.#setRank(startTimeBit, write);
  }

  #addMetadata(write: NewRunWrite): void {
    if (write.metadata === '{}') return;
    const { rank } = write;
    this.#metadataText = this.#metadata.size === 0 ? write.metadata : undefined;
    for (const [key, value] of Object.entries(JSON.parse(write.metadata) as Labels))
      this.#metadata.set(key, { value, rank });
    this.#setRank(metadataBit, write);
  }

  #setRank(bit: number, { rank, patched }: NewRunWrite): void {
    if ((patched & bit) !== 0) this.#rankOfBit.set(bit, rank);
  }

  toWrite(): NewRunWrite {
    return {
      id: this.#first.id,
      rank: this.#rank,
      patched: this.#patched,
      ranks: this.#ranks(),
      writes: [...new Set(this.#writes)],
      start_time: this.#start_time,
      metadata: this.#metadataText ?? textOf(this.#metadata),
      fields: this.#fields,
      session_name: this.#session_name,
    };
  }

  #ranks(): string | null {
    const ranks: Ranks = {};
    for (const [bit, rank] of this.#rankOfBit) if (rank !== this.#rank) ranks[bit] = rank;
    const base = this.#rankOfBit.get(metadataBit) ?? 0;
    const keys = [...this.#metadata].flatMap(([key, { rank }]) =>
      rank === base ? [] : [[key, rank] as const],
    );
    if (keys.length > 0) ranks['m'] = Object.fromEntries(keys);
    return Object.keys(ranks).length === 0 ? null : JSON.stringify(ranks);
  }
}

/** Object.fromEntries also defines a key `__proto__`; an assignment would set the prototype. Clients choose the keys. */
const textOf = (metadata: ReadonlyMap<string, { value: unknown }>): string =>
  JSON.stringify(Object.fromEntries([...metadata].map(([key, { value }]) => [key, value])));

const foldOne = (writes: readonly NewRunWrite[]): NewRunWrite[] => {
  const [first, ...others] = writes;
  if (first === undefined || others.length === 0) return [...writes];
  const folded = new FoldedRun(first);
  for (const write of writes.toSorted((a, b) => a.rank - b.rank)) folded.add(write);
  return [folded.toWrite()];
};

/** Returns one write for each run, in the order of their first writes. */
export const foldAll = (writes: readonly NewRunWrite[]): NewRunWrite[] => {
  const byId = new Map<string, NewRunWrite[]>();
  for (const write of writes) {
    const known = byId.get(write.id);
    if (known) known.push(write);
    else byId.set(write.id, [write]);
  }
  return [...byId.values()].flatMap(foldOne);
};
