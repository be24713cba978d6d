// PostgreSQL's comparisons in memory: `like`, containment of jsonb (`@>`), and lower().
import { compareDecimals, parseDecimal } from '../decimal.ts';

/** lower() in the collation "C". */
export const lowerAscii = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (found) => found.toLowerCase());

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Worst case O(length of text × length of pattern). */
export const isLike = (text: string, pattern: string): boolean => {
  const [chars, symbols] = [Array.from(text), Array.from(pattern)];
  let [at, index] = [0, 0];
  // Index of the last `%`, and the position in the text up to which it matches.
  let [percent, reached] = [-1, 0];
  while (at < chars.length) {
    if (symbols[index] === '%') [percent, reached] = [index++, at];
    else if (index < symbols.length && (symbols[index] === '_' || symbols[index] === chars[at])) {
      at++;
      index++;
    } else if (percent >= 0) [index, at] = [percent + 1, ++reached];
    else return false;
  }
  while (symbols[index] === '%') index++;
  return index === symbols.length;
};

const isEqualScalar = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  const [left, right] = [parseDecimal(String(a)), parseDecimal(String(b))];
  return left !== undefined && right !== undefined && compareDecimals(left, right) === 0;
};

/** True when `whole` contains `part`, with the rules of `@>` for values within a jsonb document. */
export const contains = (whole: unknown, part: unknown): boolean => {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((each) => whole.some((item: unknown) => contains(item, each)));
  if (isObject(part))
    return (
      isObject(whole) &&
      Object.entries(part).every(([key, value]) => Object.hasOwn(whole, key) && contains(whole[key], value))
    );
  return isEqualScalar(whole, part);
};
