// The length of JSON text that is not written: the text of a large value would need as much memory as the value.

/** All characters that JSON escapes, and a few others. */
const escaped = /["\\\p{Cc}\p{Surrogate}]/u;

const textLength = (text: string): number =>
  escaped.test(text) ? JSON.stringify(text).length : text.length + 2;

/** The number of characters of JSON.stringify(), for a value of JSON types and undefined. Undefined itself counts as null. */
export const jsonLength = (value: unknown): number => {
  if (typeof value === 'string') return textLength(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null).length;
  let [parts, chars] = [0, 0];
  if (Array.isArray(value)) {
    parts = value.length;
    for (const element of value) chars += jsonLength(element);
  } else {
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      parts++;
      chars += textLength(key) + 1 + jsonLength(member);
    }
  }
  const commas = Math.max(0, parts - 1);
  return 2 + commas + chars;
};
