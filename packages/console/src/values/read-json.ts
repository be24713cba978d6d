import { isBranch } from './json-entries.ts';

const readJson = (text: string): { value: unknown } | { problem: string } => {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { problem: `Not valid JSON: ${(error as Error).message}` };
  }
};

/** The value of a JSON text that is sent to the server; undefined for an empty one. An integer that the browser rounds is refused. */
export const readExactJson = (text: string): { value: unknown } | { problem: string } => {
  const read = readJson(text);
  const rounded = 'value' in read ? findRoundedInteger(text) : undefined;
  return rounded === undefined
    ? read
    : { problem: `${rounded.slice(0, 40)} would be rounded: write it as a text.` };
};

/** Like `readExactJson`, for a field whose value is an object. `problem`: the sentence about any other value. */
export const readExactObject = (
  text: string,
  problem: string,
): { value: Record<string, unknown> } | { problem: string } => {
  const read = readExactJson(text);
  if ('problem' in read) return read;
  const { value } = read;
  return isBranch(value) && !Array.isArray(value) ? { value: value as Record<string, unknown> } : { problem };
};

/** JSON with two spaces, for a field that is edited. */
export const formatJson = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value, null, 2);

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
