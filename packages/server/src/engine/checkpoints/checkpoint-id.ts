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
