// A large JSON body, parsed and checked in a parser thread. Members that are only stored go back as text: as values they would
// cost the main thread as much as parsing them.
import { parseStrictJson } from '../http/body/strict-json.ts';
import type { Chunks } from './byte-blocks.ts';
import type { JsonLimits } from './json-limits.ts';

export interface ParsedBody {
  value: unknown;
  /** In place of `value`: the same as text, when the main thread parses it faster than it takes it over. */
  json?: string;
  /** Members of the body that were taken out of `value`, as JSON text. */
  texts: Record<string, string>;
}

export interface JsonTasks {
  json: {
    input: { chunks: Chunks; limits: JsonLimits; textFields: readonly string[] };
    question: never;
    output: ParsedBody;
  };
}

/** Shorter members go back as values. */
const textCharsMin = 4_096;

export const readJsonBody = ({ chunks, limits, textFields }: JsonTasks['json']['input']): ParsedBody => {
  const bytes = Buffer.concat(chunks.splice(0));
  const value = parseStrictJson(bytes, limits);
  const texts: Record<string, string> = {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return toBody(value, texts);
  const members = value as Record<string, unknown>;
  for (const name of textFields) {
    const member = members[name];
    // Texts and lists are checked by the schemas of some routes; an object stands for any object.
    if (typeof member !== 'object' || member === null || Array.isArray(member)) continue;
    const text = JSON.stringify(member);
    if (text.length < textCharsMin) continue;
    texts[name] = text;
    delete members[name];
  }
  return toBody(value, texts);
};

/** A tree of many values takes longer to be taken over than to be parsed; long texts are the other way round. */
const valuesCloned = 5_000;

const toBody = (value: unknown, texts: ParsedBody['texts']): ParsedBody =>
  hasMore(value, { left: valuesCloned })
    ? { value: undefined, json: JSON.stringify(value), texts }
    : { value, texts };

/** Whether there are more values in the tree than that; stops when it is known. */
const hasMore = (value: unknown, budget: { left: number }): boolean => {
  if (--budget.left < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value) if (hasMore((value as Record<string, unknown>)[key], budget)) return true;
  return false;
};
