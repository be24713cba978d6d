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

/** JSON with two spaces, for a field that is edited. */
export const formatJson = (value: unknown): string =>
  value === undefined ? '' : JSON.stringify(value, null, 2);
