// Checks within a scenario. A failed check ends the scenario; its message says what was expected and what the server sent.
import { isDeepStrictEqual } from 'node:util';

export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** Ends a scenario that cannot be tried with this server or without an option. */
export class NotTried extends Error {
  override readonly name = 'NotTried';
}

const shownMax = 300;

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
};

export const check = (holds: boolean, expected: string, actual?: unknown): void => {
  if (!holds)
    throw new CheckFailed(`expected ${expected}${actual === undefined ? '' : `, got ${shown(actual)}`}`);
};

export const checkEqual = (what: string, actual: unknown, expected: unknown): void =>
  check(isDeepStrictEqual(actual, expected), `${what} to be ${shown(expected)}`, actual ?? 'nothing');

export const checkStatus = (
  { status, text, request }: { status: number; text: string; request: string },
  ...expected: number[]
): void => {
  if (expected.includes(status)) return;
  throw new CheckFailed(`${request}: expected status ${expected.join(' or ')}, got ${status} ${shown(text)}`);
};

/** A member of nested objects and lists; undefined when there is none. */
export const get = (value: unknown, ...path: (string | number)[]): unknown => {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string | number, unknown>)[key];
  }
  return current;
};

/** A member that must be a text. */
export const getText = (value: unknown, ...path: (string | number)[]): string => {
  const found = get(value, ...path);
  if (typeof found !== 'string')
    throw new CheckFailed(`expected a text at ${path.join('.')}, got ${shown(value)}`);
  return found;
};

export const getList = (value: unknown, ...path: (string | number)[]): unknown[] => {
  const found = get(value, ...path);
  if (!Array.isArray(found))
    throw new CheckFailed(`expected a list at ${path.join('.') || 'the top'}, got ${shown(value)}`);
  return found;
};
