import { isBranch } from './json-entries.ts';
import { findRoundedInteger } from './rounded-integer.ts';

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
