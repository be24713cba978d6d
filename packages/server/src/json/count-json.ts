// A fast scan of JSON text before it is parsed: a million brackets take a gigabyte once parsed. The grammar is not checked: JSON.parse does
// that.
import { isFaithful } from './json-faults.ts';
import type { JsonBudget } from './json-limits.ts';

/** The text is nested too deep or, in a strict scan, may contain what PostgreSQL would lose or change. */
export const suspicious = -1;

export interface ScanOptions {
  /** Checks escapes and numbers. */
  isStrict?: boolean;
  /** Gets the places of the brackets, commas and colons of the outermost levels. */
  marks?: number[];
  /** The number of these levels. */
  markedLevels?: number;
}

const quote = 34;
const backslash = 92;
const letterU = 117;
/** After this many characters, the native search is faster than a loop over characters. */
const shortString = 24;

/** Returns the number of keys, or `suspicious`. Throws when the text has more values or keys than the budget. */
export const countJson = (
  text: string,
  budget: JsonBudget,
  { isStrict = false, marks = [], markedLevels = 0 }: ScanOptions = {},
): number => {
  const { valuesLeft, keysLeft } = budget;
  const { depthMax } = budget.limits;
  let depth = 0;
  let keys = 0;
  let values = 1;
  /** The last character was an opening bracket: the next is the first value, or closes it. */
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
        at = endOfString(text, at + 1, isStrict);
        if (at === suspicious) return suspicious;
        break;
      case 44: // ,
        values++;
        if (depth <= markedLevels) marks.push(at);
        break;
      case 58: // :
        keys++;
        if (depth <= markedLevels) marks.push(at);
        break;
      case 91: // [
      case 123: // {
        if (++depth > depthMax) return suspicious;
        if (depth <= markedLevels) marks.push(at);
        isOpening = true;
        break;
      case 93: // ]
      case 125: // }
        if (depth-- <= markedLevels) marks.push(at);
        break;
      case 45: // -
      case 48:
      case 49:
      case 50:
      case 51:
      case 52:
      case 53:
      case 54:
      case 55:
      case 56:
      case 57:
        if (!isStrict) break;
        at = endOfNumber(text, at);
        if (at === suspicious) return suspicious;
        break;
      default:
    }
  }
  budget.spend(values, keys);
  return keys;
};

/** Index of the closing quote, or `suspicious`. */
const endOfString = (text: string, start: number, isStrict: boolean): number => {
  let at = start;
  for (;;) {
    const near = Math.min(at + shortString, text.length);
    let code = 0;
    while (at < near && (code = text.charCodeAt(at)) !== quote && code !== backslash) at++;
    if (at >= near) {
      at = nextSpecial(text, at);
      if (at >= text.length) return at;
      code = text.charCodeAt(at);
    }
    if (code === quote) return at;
    if (isStrict && text.charCodeAt(at + 1) === letterU) {
      at = endOfEscape(text, at);
      if (at === suspicious) return suspicious;
    } else at += 2;
  }
};

/** Index of the next quote or backslash. A native search in growing pieces, so that it never reads far beyond the match. */
const nextSpecial = (text: string, start: number): number => {
  let at = start;
  for (let size = 64; at < text.length; size = Math.min(size * 4, 65_536)) {
    const piece = text.slice(at, at + size);
    const end = piece.indexOf('"');
    const escape = (end === -1 ? piece : piece.slice(0, end)).indexOf('\\');
    if (escape !== -1) return at + escape;
    if (end !== -1) return at + end;
    at += size;
  }
  return at;
};

/** Index after a `\uXXXX` (or a surrogate pair of them), or `suspicious`: NUL, half of a pair, `_` (as in `__proto__`). */
const endOfEscape = (text: string, at: number): number => {
  const unit = hex4(text, at + 2);
  if (unit <= 0 || unit === 0x5f) return suspicious;
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  if (unit > 0xdbff || text.charCodeAt(at + 6) !== backslash || text.charCodeAt(at + 7) !== letterU) {
    return suspicious;
  }
  const low = hex4(text, at + 8);
  return low >= 0xdc00 && low <= 0xdfff ? at + 12 : suspicious;
};

/** Four hexadecimal digits as a number; -1 for other characters. */
const hex4 = (text: string, at: number): number => {
  let value = 0;
  for (let index = at; index < at + 4; index++) {
    const code = text.charCodeAt(index);
    const lower = code | 32;
    if (code >= 48 && code <= 57) value = value * 16 + code - 48;
    else if (lower >= 97 && lower <= 102) value = value * 16 + lower - 87;
    else return -1;
  }
  return value;
};

/** Index of the last character of the number, or `suspicious` when a double may have another value. */
const endOfNumber = (text: string, start: number): number => {
  let at = start + 1;
  let exponent = false;
  let fraction = false;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) continue;
    if (code === 46) fraction = true;
    else if (code === 101 || code === 69) exponent = true;
    else if (code !== 43 && code !== 45) break;
  }
  // Fifteen digits always fit a double. A fraction of at most 200 characters without an exponent is never rounded to zero.
  const plain = !exponent && at - start <= (fraction ? 200 : 15);
  return plain || isFaithful(text, start, at) ? at - 1 : suspicious;
};
