// Comparisons on entries: keys and values of metadata, inputs and outputs, and feedback, which also has a score.
import type { NumberTest, TraceRunCondition, ValueTest } from '../../storage/tracing/trace-condition.ts';
import type { Comparator } from './comparator.ts';
import type { EntryField, EntrySource } from './fields.ts';
import { FilterError } from './filter-error.ts';
import type { Node } from './parse.ts';
import { isNull, listOf, numberOf, stringOf, textOf } from './values.ts';

/** One comparison on an entry. Comparisons on the same source within one `and` apply to the same entry. */
export type EntryPart = { source: EntrySource; isNegated: boolean } & (
  | { of: 'key'; keys: string[] }
  | { of: 'value'; test: ValueTest }
  | { of: 'score'; test: NumberTest }
);

export const entryPart = (
  field: EntryField,
  op: Comparator,
  value: Node,
  refuse: () => FilterError,
): EntryPart | TraceRunCondition => {
  if (isNull(value) && op !== 'exists')
    throw new FilterError(
      'null is not allowed here; use neq(…_key, "name") to find runs without the entry',
      value.at,
    );
  const isNegated = op === 'neq';
  const plain = isNegated ? 'eq' : op;
  switch (field.type) {
    case 'key': {
      if (plain !== 'eq' && plain !== 'in') throw refuse();
      const keys = plain === 'eq' ? [textOf(value)] : listOf(value, textOf);
      // neq on a key means that no entry has the key, so it is never combined with other comparisons.
      if (isNegated)
        return { is: 'not', of: joinEntries([{ source: field.of, isNegated: false, of: 'key', keys }], 0) };
      return { source: field.of, isNegated, of: 'key', keys };
    }
    case 'value':
      return { source: field.of, isNegated, of: 'value', test: valueTest(plain, value, refuse) };
    case 'score': {
      if (plain !== 'eq' && plain !== 'gt' && plain !== 'gte' && plain !== 'lt' && plain !== 'lte')
        throw refuse();
      return { source: 'feedback', isNegated, of: 'score', test: { op: plain, number: numberOf(value) } };
    }
  }
};

const valueTest = (op: Comparator, value: Node, refuse: () => FilterError): ValueTest => {
  switch (op) {
    case 'eq':
      return { op: 'in', values: [textOf(value)] };
    case 'in':
      return { op: 'in', values: listOf(value, textOf) };
    case 'like':
      return { op: 'like', pattern: stringOf(value) };
    case 'search':
    case 'contain':
      return { op: 'search', text: stringOf(value) };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { op, number: numberOf(value) };
    case 'neq':
    case 'has':
    case 'exists':
      throw refuse();
  }
};

/** Joins comparisons on one source to a condition on a single entry. */
export const joinEntries = (parts: readonly EntryPart[], at: number): TraceRunCondition => {
  const [first] = parts;
  if (first === undefined) return { is: 'all', of: [] };
  // A single neq means that no entry has the value. With other comparisons, it means that this entry has another value.
  if (parts.length === 1 && first.isNegated)
    return { is: 'not', of: joinEntries([{ ...first, isNegated: false }], at) };
  const keyed = parts.filter((part) => part.of === 'key');
  if (keyed.length > 1)
    throw new FilterError(
      'An and() may compare only one key of each kind; put each pair of key and value into an and() of its own',
      at,
    );
  const keys = keyed[0]?.keys ?? null;
  const values = parts.flatMap((part) => (part.of === 'value' ? [negate(part.test, part.isNegated)] : []));
  const { source } = first;
  if (source !== 'feedback') return { is: 'entry', of: source, keys, tests: values };
  const scores = parts.flatMap((part) => {
    if (part.of !== 'score') return [];
    if (part.isNegated)
      throw new FilterError(
        'neq(feedback_score, …) cannot be combined with other feedback comparisons in one and()',
        at,
      );
    return [part.test];
  });
  return { is: 'feedback', keys, scores, values };
};

const negate = (test: ValueTest, isNegated: boolean): ValueTest =>
  isNegated && test.op === 'in' ? { op: 'not in', values: test.values } : test;
