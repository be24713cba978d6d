// Parses and checks a large JSON body in a parser thread. Members that are only stored are returned as text: to receive them as values
// would cost the main thread as much as parsing them.
import { parseStrictJson } from '../json/strict-json.ts';
import { type Chunks, moved } from './byte-blocks.ts';
import { freeMapped } from './mapped-bytes.ts';
import type { JsonLimits } from '../json/json-limits.ts';
import { isRecord } from '../json/is-record.ts';

export interface ParsedBody {
  value: unknown;
  /** Replaces `value` when the main thread parses the text faster than it receives the value. */
  json?: string;
  /** Members of the body that are not in `value`, as JSON text. */
  texts: Record<string, string>;
}

export interface JsonTasks {
  json: {
    input: {
      chunks: Chunks;
      limits: JsonLimits;
      textFields: readonly string[];
      anyText: readonly string[];
    };
    question: never;
    output: ParsedBody;
  };
}

/** Shorter members are returned as values. */
const textCharsMin = 4_096;

export const readJsonBody = ({
  chunks,
  limits,
  textFields,
  anyText,
}: JsonTasks['json']['input']): ParsedBody => {
  const bytes = moved(chunks);
  const value = parseStrictJson(bytes, limits, anyText);
  freeMapped(bytes);
  const texts: Record<string, string> = {};
  if (!isRecord(value)) return toBody(value, texts);
  for (const name of textFields) {
    const member = value[name];
    // Texts and lists are returned as values, because schemas of some routes check them. Objects are not checked.
    if (!isRecord(member)) continue;
    const text = JSON.stringify(member);
    if (text.length < textCharsMin) continue;
    texts[name] = text;
    delete value[name];
  }
  return toBody(value, texts);
};

/** With more values, a structured clone takes longer than parsing. For few long texts it is the other way round. */
const valuesCloned = 5_000;

const toBody = (value: unknown, texts: ParsedBody['texts']): ParsedBody =>
  hasMore(value, { left: valuesCloned })
    ? { value: undefined, json: JSON.stringify(value), texts }
    : { value, texts };

/** True when the tree has more than `budget.left` values; stops as soon as that is known. */
const hasMore = (value: unknown, budget: { left: number }): boolean => {
  if (--budget.left < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) if (hasMore((value as Record<string, unknown>)[key], budget)) return true;
  return false;
};
