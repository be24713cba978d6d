// Parses JSON that tracers send. Numbers and strings that other requests may not contain are accepted, because the text itself is stored.
import { isUtf8 } from 'node:buffer';
import { countJson, suspicious } from '../../json/count-json.ts';
import { type JsonBudget, tooDeep } from '../../json/json-limits.ts';
import { type JsonPlace, placeOf } from '../../json/json-places.ts';
import { RunRejected } from './sent-run.ts';

/**
 * Throws RunRejected for invalid JSON and JSON that is nested too deep, and a Problem when the budget of the whole body is exceeded.
 */
export const parseJson = (bytes: Uint8Array, what: string, budget: JsonBudget): unknown =>
  readJson(bytes, what, budget, 0).value;

/** Like parseJson; also returns the text, and the places of values in it, `levels` deep. */
export const readJson = (
  bytes: Uint8Array,
  what: string,
  budget: JsonBudget,
  levels: number,
): { text: string; value: unknown; place: JsonPlace } => {
  if (!isUtf8(bytes)) throw new RunRejected(`${what} is not valid UTF-8`);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const marks: number[] = [];
  if (countJson(text, budget, { marks, markedLevels: levels }) === suspicious)
    throw new RunRejected(`${what} ${tooDeep(budget.limits)}`);
  try {
    return { text, value: JSON.parse(text), place: placeOf(text, marks) };
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message.slice(0, 200) : '';
    throw new RunRejected(`${what} is not valid JSON: ${detail}`);
  }
};
