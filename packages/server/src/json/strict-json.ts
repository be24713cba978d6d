// Parses the JSON that svc accepts: what JSON.parse accepts, except for what PostgreSQL would lose or change. A fast scan accepts usual
// bodies. A suspicious body is read again by a slow and exact reader, which reports what is wrong and where (json-faults.ts).
import { isUtf8 } from 'node:buffer';
import { Problem } from '@svc/contract/problem';
import { countJson, suspicious } from './count-json.ts';
import { assertJson } from './json-faults.ts';
import { JsonBudget, type JsonLimits, requestLimits } from './json-limits.ts';

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
  const keys = countJson(text, new JsonBudget(limits), { isStrict: true });
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
