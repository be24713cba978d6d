import { isBranch } from './json-entries.ts';

/**
 * JSON of a value, cut to about `charsMax` characters. Deep and large values cost no more than short ones: each level and each element adds
 * a character, and nothing behind the cut is read.
 */
export const inlineJson = (value: unknown, charsMax: number): string => {
  let text = '';
  const write = (part: string): void => {
    text += part.slice(0, charsMax + 1 - text.length);
  };
  const writeValue = (given: unknown): void => {
    if (typeof given === 'string') return write(JSON.stringify(given.slice(0, charsMax)));
    if (!isBranch(given)) return write(String(given));
    const isList = Array.isArray(given);
    write(isList ? '[' : '{');
    let isFirst = true;
    for (const key in given) {
      if (text.length > charsMax) return;
      if (!isFirst) write(',');
      isFirst = false;
      if (!isList) write(`${JSON.stringify(key.slice(0, charsMax))}:`);
      writeValue((given as Record<string, unknown>)[key]);
    }
    write(isList ? ']' : '}');
  };
  writeValue(value);
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
};
