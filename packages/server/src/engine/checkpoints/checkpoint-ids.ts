// The ids under which checkpoints are stored. They are those of the engine, except after the clock went back: a checkpoint must sort after
// its parent. The body of such a checkpoint has the engine's id too, because the engine derives from it the ids of the tasks, and from
// these the namespaces of subgraphs and the ids of interrupts. A later attempt needs the same ones.

import type { CheckpointMetadata } from '@langchain/langgraph-checkpoint';

export class StoredIds {
  /** By the engine's ids, and by themselves. */
  readonly #ids = new Map<string, string>();
  /** By namespace: the last id that was assigned. */
  readonly #last = new Map<string, string>();

  /** The stored id of an id of the engine. Unknown ids are stored ones. */
  of(engine_id: string): string {
    return this.#ids.get(engine_id) ?? engine_id;
  }

  record(engine_id: string, stored: string): void {
    this.#ids.set(engine_id, stored);
    this.#ids.set(stored, stored);
  }

  /** For a checkpoint that is put. */
  assign(ns: string, engine_id: string, parent: string | undefined): string {
    const known = this.#ids.get(engine_id);
    if (known !== undefined) return known;
    const stored = idAfter(engine_id, parent);
    this.record(engine_id, stored);
    this.#last.set(ns, stored);
    return stored;
  }

  /** For the writes of a checkpoint. They may come before its put, which waits for that of its parent: the checkpoint before, or `head`. */
  assignEarly(ns: string, engine_id: string, head: string | null | undefined): string {
    return this.assign(ns, engine_id, this.#last.get(ns) ?? head ?? undefined);
  }

  /** Omits empty `parents`, which all checkpoints outside of subgraphs have; readers restore it. */
  withParents(given: Partial<CheckpointMetadata>): object {
    const { parents = {}, ...metadata } = given;
    const stored = Object.entries(parents).map(([ns, id]) => [ns, this.of(id)]);
    return stored.length > 0 ? { ...metadata, parents: Object.fromEntries(stored) } : metadata;
  }
}

// Checkpoint ids are UUIDv6: their text sorts by the time in their first 60 bits (RFC 9562, 5.6).
const timeOf = (id: string): bigint => {
  const hex = id.replaceAll('-', '');
  return (BigInt(`0x${hex.slice(0, 12)}`) << 12n) | BigInt(`0x${hex.slice(13, 16)}`);
};

const withTime = (id: string, time: bigint): string => {
  const hex = time.toString(16).padStart(15, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-6${hex.slice(12, 15)}${id.slice(18)}`;
};

/**
 * Returns `id` when it sorts after its parent's id. Otherwise (the clock went back) returns the same id with the parent's
 * time plus one tick. A child therefore always sorts after its parent.
 */
export const idAfter = (id: string, parent: string | undefined): string =>
  parent === undefined || id > parent ? id : withTime(id, timeOf(parent) + 1n);

// When a checkpoint was created, from its id. The engine reads the clock for the id and again for `ts`, so these may differ. Clients of the
// thread protocol compare the time of events with that of the state: both come from the id.

/** Milliseconds from 1582-10-15, where the times of UUIDs begin, to 1970. */
const uuidEpochMs = 12_219_292_800_000;

/** The time in the id of a checkpoint, a UUID of version 6, in milliseconds since 1970; undefined for other ids. */
export const checkpointTimeMs = (id: string): number | undefined => {
  const [, high, mid, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/.exec(id) ?? [];
  if (high === undefined || mid === undefined || low === undefined) return undefined;
  const ticks = BigInt(`0x${high}${mid}${low}`);
  return Number(ticks / 10_000n) - uuidEpochMs;
};
