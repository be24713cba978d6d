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
