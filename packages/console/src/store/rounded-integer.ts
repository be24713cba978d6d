const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The first integer of a JSON text that the browser would round. The server stores no rounded numbers, so none is sent. */
export const findRoundedInteger = (text: string): string | undefined =>
  (text.match(tokens) ?? []).find(
    (token) => /^-?\d{16,}$/.test(token) && BigInt(token) !== toInteger(Number(token)),
  );

/** Undefined for an infinite number. */
const toInteger = (number: number): bigint | undefined =>
  Number.isFinite(number) ? BigInt(number) : undefined;
