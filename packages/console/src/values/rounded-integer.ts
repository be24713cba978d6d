const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * The first integer of a JSON text that the browser would round. The server stores no rounded numbers, so none is sent. The browser writes
 * 2^60 as 1152921504606847000: the shortest digits that mean the same number are not rounded.
 */
export const findRoundedInteger = (text: string): string | undefined =>
  (text.match(tokens) ?? []).find((token) => /^-?\d{16,}$/.test(token) && !isKept(token));

const isKept = (token: string): boolean => {
  const number = Number(token);
  return String(number) === token || (Number.isFinite(number) && BigInt(number) === BigInt(token));
};

/** True when a value that was read from JSON has an integer that the browser may have rounded. */
export const mayBeRounded = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(mayBeRounded);
};
