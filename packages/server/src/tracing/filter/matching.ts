// How PostgreSQL compares: patterns of `like`, containment of jsonb, small letters.
import { compareDecimals, parseDecimal } from '../decimal.ts';

/** As lower() has it in the collation "C". */
export const lowerAscii = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (found) => found.toLowerCase());

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** In time that grows with text times pattern at most. */
export const isLike = (text: string, pattern: string): boolean => {
  const [chars, wanted] = [Array.from(text), Array.from(pattern)];
  let [at, place] = [0, 0];
  // Where the last `%` was, and how far it has stretched.
  let [star, reached] = [-1, 0];
  while (at < chars.length) {
    if (wanted[place] === '%') [star, reached] = [place++, at];
    else if (place < wanted.length && (wanted[place] === '_' || wanted[place] === chars[at])) {
      at++;
      place++;
    } else if (star >= 0) [place, at] = [star + 1, ++reached];
    else return false;
  }
  while (wanted[place] === '%') place++;
  return place === wanted.length;
};

const isEqualScalar = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  const [left, right] = [parseDecimal(String(a)), parseDecimal(String(b))];
  return left !== undefined && right !== undefined && compareDecimals(left, right) === 0;
};

/** Whether `whole` has all of `part`, as `@>` says of jsonb below its top. */
export const contains = (whole: unknown, part: unknown): boolean => {
  if (Array.isArray(part))
    return (
      Array.isArray(whole) && part.every((wanted) => whole.some((item: unknown) => contains(item, wanted)))
    );
  if (isObject(part))
    return (
      isObject(whole) &&
      Object.entries(part).every(([key, wanted]) => Object.hasOwn(whole, key) && contains(whole[key], wanted))
    );
  return isEqualScalar(whole, part);
};
