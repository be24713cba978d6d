// Evaluates a filter on a trace run in memory, with the same result as its SQL (storage/tracing/trace-condition-sql.ts).
import type {
  NumberField,
  NumberTest,
  Order,
  PayloadField,
  TextField,
  TextTest,
  TimeField,
  TraceRunCondition,
  ValueTest,
} from '../../src/storage/tracing/trace-condition.ts';
import { toExactText } from '../../src/storage/postgres/exact-text.ts';
import { compareDecimals, type Decimal, parseDecimal } from '../../src/tracing/decimal.ts';
import { microsOf } from '../../src/api/time.ts';
import { isRecord } from '../../src/json/is-record.ts';

export type EvaluatedRun = Record<TextField | PayloadField | TimeField, string | null> &
  Record<Exclude<NumberField, 'latency'>, number | string | null> & {
    tags: readonly string[] | null;
    metadata: Record<string, unknown>;
    feedback: readonly { key: string; score: string | number | null; value: unknown }[];
  };

/** Inputs and outputs of the run are JSON text. */
export const holds = (condition: TraceRunCondition, run: EvaluatedRun): boolean => {
  switch (condition.is) {
    case 'all':
      return condition.of.every((inner) => holds(inner, run));
    case 'any':
      return condition.of.some((inner) => holds(inner, run));
    case 'not':
      return !holds(condition.of, run);
    case 'root':
      return run.parent_run_id === null;
    case 'empty':
      return condition.field === 'latency' ? latencyOf(run) === undefined : run[condition.field] === null;
    case 'text':
      return passesText(run[condition.field], condition.test);
    case 'payload':
      return passesPayload(run[condition.field], condition.test);
    case 'number': {
      const { field, test } = condition;
      return passesNumber(field === 'latency' ? latencyOf(run) : decimalOf(run[field]), test);
    }
    case 'time': {
      const time = run[condition.field];
      return time !== null && isInOrder(condition.op, compare(microsOf(time), microsOf(condition.time)));
    }
    case 'tag':
      return run.tags?.includes(condition.tag) ?? false;
    case 'metadata':
      return contains(run.metadata, condition.has);
    case 'entry': {
      const { of, keys, tests } = condition;
      const entries = of === 'metadata' ? run.metadata : entriesOf(run[of]);
      return Object.entries(entries).some(
        ([key, value]) =>
          (keys === null || keys.includes(key)) && tests.every((test) => passesValue(value, test)),
      );
    }
    case 'feedback':
      return run.feedback.some(
        ({ key, score, value }) =>
          (condition.keys === null || condition.keys.includes(key)) &&
          condition.scores.every((test) => passesNumber(decimalOf(score), test)) &&
          condition.values.every((test) => passesValue(value, test)),
      );
  }
};

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

const decimalOf = (value: string | number | null): Decimal | undefined =>
  value === null ? undefined : parseDecimal(String(value));

const latencyOf = ({ start_time, end_time }: EvaluatedRun): Decimal | undefined =>
  start_time === null || end_time === null
    ? undefined
    : { units: microsOf(end_time) - microsOf(start_time), scale: 6 };

const isInOrder = (op: Order, order: number): boolean => {
  switch (op) {
    case 'eq':
      return order === 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
  }
};

const passesNumber = (value: Decimal | undefined, { op, number }: NumberTest): boolean => {
  const operand = parseDecimal(number);
  return value !== undefined && operand !== undefined && isInOrder(op, compareDecimals(value, operand));
};

const passesText = (value: string | null, test: TextTest): boolean => {
  if (value === null) return false;
  switch (test.op) {
    case 'in':
      return test.values.includes(value);
    case 'like':
      // Compares stored forms: a character that PostgreSQL cannot store is an escape of several characters there.
      return isLike(toExactText(value), toExactText(test.pattern));
    case 'search':
      return lowerAscii(toExactText(value)).includes(lowerAscii(toExactText(test.text)));
  }
};

/** `search` looks for the text in its JSON escaping. */
const passesPayload = (text: string | null, test: TextTest): boolean =>
  passesText(
    text,
    test.op === 'search' ? { op: 'search', text: JSON.stringify(test.text).slice(1, -1) } : test,
  );

const entriesOf = (text: string | null): Record<string, unknown> => {
  // jsonb cannot store NUL or lone surrogates, so the SQL finds no entries in such a payload.
  if (text === null || /(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F])/.test(text)) return {};
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : {};
};

const passesValue = (value: unknown, test: ValueTest): boolean => {
  switch (test.op) {
    case 'in':
      return test.values.some((text) => equalsText(value, text));
    case 'not in':
      return !test.values.some((text) => equalsText(value, text));
    case 'like':
    case 'search':
      return typeof value === 'string' && passesText(value, test);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof value === 'number' && passesNumber(decimalOf(value), test);
  }
};

/** True when the JSON value is the string `text`, or the boolean or number that `text` denotes. */
const equalsText = (value: unknown, text: string): boolean => {
  if (typeof value === 'string') return value === text;
  if (typeof value === 'boolean') return String(value) === text;
  return (
    typeof value === 'number' &&
    isPlainNumber(text) &&
    passesNumber(decimalOf(value), { op: 'eq', number: text })
  );
};

const isPlainNumber = (text: string): boolean => /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text);

// PostgreSQL's comparisons in memory: `like`, containment of jsonb (`@>`), and lower().

/** lower() in the collation "C". */
const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]+/g, (found) => found.toLowerCase());

/** Worst case O(length of text × length of pattern). */
const isLike = (text: string, pattern: string): boolean => {
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
const contains = (whole: unknown, part: unknown): boolean => {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((each) => whole.some((item: unknown) => contains(item, each)));
  if (isRecord(part))
    return (
      isRecord(whole) &&
      Object.entries(part).every(([key, value]) => Object.hasOwn(whole, key) && contains(whole[key], value))
    );
  return isEqualScalar(whole, part);
};
