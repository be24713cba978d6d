// Parses the JSON that svc accepts: what JSON.parse accepts, except for what PostgreSQL would lose or change. A fast scan accepts usual
// bodies. A suspicious body is read again by a slow and exact reader, which reports what is wrong and where (json-faults.ts).
import { isUtf8 } from 'node:buffer';
import { Problem } from '@svc/contract/problem';
import { JsonBudget, type JsonLimits, requestLimits } from '../../parsing/json-limits.ts';
import { assertJson, isFaithful } from './json-faults.ts';

const suspicious = -1;

const quote = 34;
const backslash = 92;
const letterU = 117;
/** After this many characters, the native search is faster than a loop over characters. */
const shortString = 24;

/**
 * The value of the body. Throws a Problem: 400 when it is not JSON, 422 when it contains JSON that is not allowed, 413 when it has more
 * values or keys than the limits allow.
 */
export const parseStrictJson = (
  bytes: Buffer,
  limits: JsonLimits = requestLimits,
  anyText: readonly string[] = [],
): unknown => {
  if (!isUtf8(bytes)) throw new Problem('bad_request', 'The body is not valid UTF-8.');
  return parseStrictText(bytes.toString('utf8'), limits, anyText);
};

/** `anyText`: paths below which strings may contain NUL and half of a surrogate pair. */
export const parseStrictText = (
  text: string,
  limits: JsonLimits = requestLimits,
  anyText: readonly string[] = [],
): unknown => {
  // Counted before JSON.parse: a million brackets take a gigabyte once parsed.
  const keys = countWrittenKeys(text, limits);
  if (keys === suspicious) assertJson(text, limits, anyText);
  const value = parse(text, limits);
  if (keys === suspicious) return value;
  // JSON.parse keeps the last of two equal keys, so fewer keys than in the text mean a duplicate.
  if (text.includes('__proto__') || (keys > 0 && countKeys(value) !== keys)) assertJson(text, limits);
  return value;
};

const parse = (text: string, limits: JsonLimits): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    assertJson(text, limits);
    throw new Problem('bad_request', 'The body is not valid JSON.', { cause });
  }
};

/**
 * The number of keys in the text, or `suspicious`. Throws when there are too many keys or values. The grammar is not checked here:
 * JSON.parse does that.
 */
const countWrittenKeys = (text: string, limits: JsonLimits): number => {
  const { depthMax, valuesMax, keysMax } = limits;
  let depth = 0;
  let keys = 0;
  let values = 1;
  /** The last character was an opening bracket: the next is the first value, or closes it. */
  let isOpening = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 32) continue;
    if (isOpening) {
      isOpening = false;
      if (code !== 93 && code !== 125) values++;
    }
    switch (code) {
      case quote:
        at = endOfString(text, at + 1);
        if (at === suspicious) return suspicious;
        break;
      case 44: // ,
        if (++values > valuesMax) new JsonBudget(limits).spend(values);
        break;
      case 58: // :
        if (++keys > keysMax) new JsonBudget(limits).spend(0, keys);
        break;
      case 91: // [
      case 123: // {
        if (values > valuesMax) new JsonBudget(limits).spend(values);
        if (++depth > depthMax) return suspicious;
        isOpening = true;
        break;
      case 93: // ]
      case 125: // }
        depth--;
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
        at = endOfNumber(text, at);
        if (at === suspicious) return suspicious;
        break;
      default:
    }
  }
  if (values > valuesMax) new JsonBudget(limits).spend(values);
  return keys;
};

/** Index of the closing quote, or `suspicious`. */
const endOfString = (text: string, start: number): number => {
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
    if (text.charCodeAt(at + 1) === letterU) {
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

const countKeys = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      if (typeof item === 'object' && item !== null) count += countKeys(item);
    }
    return count;
  }
  const record = value as Record<string, unknown>;
  for (const key in record) {
    count++;
    const item = record[key];
    if (typeof item === 'object' && item !== null) count += countKeys(item);
  }
  return count;
};
