// Times and texts in forms that lose nothing.

/** SQL for a `timestamptz` as text: ISO 8601 in UTC with microseconds, which JavaScript's Date does not have. */
export const exactTime = (expression: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

// Stores texts that PostgreSQL cannot hold. NUL and unpaired surrogates are escaped as U+10FFFF, which real text does not contain,
// followed by four hexadecimal digits. Search terms are escaped in the same way, so they match.

/** The escape character: in every stored text that differs from the original. */
export const exactMark = '\u{10FFFF}';
const unstorable = /[\0\u{10FFFF}]|\p{Surrogate}/u;
const everyUnstorable = /[\0\u{10FFFF}]|\p{Surrogate}/gu;
const everyMarked = /\u{10FFFF}([0-9a-f]{4})/gu;
const markCode = 'ffff';

export const toExactText = (text: string): string =>
  unstorable.test(text)
    ? text.replaceAll(
        everyUnstorable,
        (found) =>
          exactMark + (found === exactMark ? markCode : found.charCodeAt(0).toString(16).padStart(4, '0')),
      )
    : text;

export const fromExactText = (text: string): string =>
  text.includes(exactMark)
    ? text.replaceAll(everyMarked, (_, code: string) =>
        code === markCode ? exactMark : String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

/** Applies `change` to every string and key of a JSON value. */
export const mapTexts = (value: unknown, change: (text: string) => string): unknown => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]),
  );
};

/** JSON text for a column of type jsonb. */
export const toExactJson = (value: unknown): string => {
  const text = JSON.stringify(value);
  // Only characters that JSON writes as \u escapes, and the escape character itself, need escaping.
  if (!text.includes('\\u') && !text.includes(exactMark)) return text;
  return JSON.stringify(mapTexts(value, toExactText));
};

export const fromExactJson = (value: unknown): unknown => mapTexts(value, fromExactText);

/** For a text column that is only displayed, such as a reason: NUL, which PostgreSQL rejects, becomes U+FFFD. */
export const toShownText = (text: string): string => text.replaceAll('\0', '\u{FFFD}');
