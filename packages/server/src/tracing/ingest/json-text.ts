// Parses JSON that tracers send. Numbers and strings that other requests may not contain are accepted, because the text itself is stored.
import { isUtf8 } from 'node:buffer';
import { type JsonBudget, type JsonLimits, tooDeep } from '../../parsing/json-limits.ts';
import { RunRejected } from './sent-run.ts';

/**
 * Throws RunRejected for invalid JSON and JSON that is nested too deep, and a Problem when the budget of the whole body is exceeded.
 */
export const parseJson = (bytes: Uint8Array, what: string, budget: JsonBudget): unknown =>
  readJson(bytes, what, budget).value;

/** Like parseJson; also returns the text. */
export const readJson = (
  bytes: Uint8Array,
  what: string,
  budget: JsonBudget,
): { text: string; value: unknown } => {
  if (!isUtf8(bytes)) throw new RunRejected(`${what} is not valid UTF-8`);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  // Checked before parsing, because a million nested brackets would become a gigabyte of objects.
  if (!measure(text, budget)) throw new RunRejected(`${what} ${tooDeep(budget.limits)}`);
  try {
    return { text, value: JSON.parse(text) };
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message.slice(0, 200) : '';
    throw new RunRejected(`${what} is not valid JSON: ${detail}`);
  }
};

const quote = 34;
const backslash = 92;

/**
 * Counts the values and keys of the text against the budget; throws when it is exceeded. Returns false when the text is nested too deep.
 * Does not check the grammar.
 */
export const measure = (text: string, budget: JsonBudget): boolean => {
  const { valuesLeft, keysLeft } = budget;
  const { depthMax }: JsonLimits = budget.limits;
  let depth = 0;
  let values = 1;
  let keys = 0;
  /** True after an opening bracket: the next character begins its first value, or closes the bracket. */
  let isOpening = false;
  for (let at = 0; at < text.length && values <= valuesLeft && keys <= keysLeft; at++) {
    const code = text.charCodeAt(at);
    if (code <= 32) continue;
    if (isOpening) {
      isOpening = false;
      if (code !== 93 && code !== 125) values++;
    }
    switch (code) {
      case quote:
        at = afterString(text, at + 1);
        break;
      case 44: // ,
        values++;
        break;
      case 58: // :
        keys++;
        break;
      case 91: // [
      case 123: // {
        if (++depth > depthMax) return false;
        isOpening = true;
        break;
      case 93: // ]
      case 125: // }
        depth--;
        break;
      default:
    }
  }
  budget.spend(values, keys);
  return true;
};

/** Index of the closing quote of the string whose content begins at `start`. */
const afterString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
};
