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
 * The id itself when it is greater than its parent's; otherwise (the clock went back) the same id moved to
 * the tick after its parent. A child therefore always sorts after its parent, whatever clocks do.
 */
export const idAfter = (id: string, parent: string | undefined): string =>
  parent === undefined || id > parent ? id : withTime(id, timeOf(parent) + 1n);
