// What filters say of entries: of metadata, of inputs and outputs, and of feedback, which has a score besides.
import type { NumberTest, TraceRunCondition, ValueTest } from '../../storage/tracing/trace-condition.ts';
import type { Comparator } from './comparator.ts';
import type { EntryFamily, EntryField } from './fields.ts';
import { FilterError } from './filter-error.ts';
import type { Node } from './parse.ts';
import { isNull, listOf, numberOf, stringOf, textOf } from './values.ts';

/** One comparison, which may be about the same entry as others beside it. */
export type EntryPart = { family: EntryFamily; isNegated: boolean } & (
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
      'Say neq(…_key, "name") for an entry that is not there; null is no value',
      value.at,
    );
  const isNegated = op === 'neq';
  const plain = isNegated ? 'eq' : op;
  switch (field.type) {
    case 'key': {
      if (plain !== 'eq' && plain !== 'in') throw refuse();
      const keys = plain === 'eq' ? [textOf(value)] : listOf(value, textOf);
      // That no entry has the key concerns all of them, whatever stands beside it.
      if (isNegated)
        return { is: 'not', of: joinEntries([{ family: field.of, isNegated: false, of: 'key', keys }], 0) };
      return { family: field.of, isNegated, of: 'key', keys };
    }
    case 'value':
      return { family: field.of, isNegated, of: 'value', test: valueTest(plain, value, refuse) };
    case 'score': {
      if (plain !== 'eq' && plain !== 'gt' && plain !== 'gte' && plain !== 'lt' && plain !== 'lte')
        throw refuse();
      return { family: 'feedback', isNegated, of: 'score', test: { op: plain, number: numberOf(value) } };
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

/** The parts are of one family, and about one entry. */
export const joinEntries = (parts: readonly EntryPart[], at: number): TraceRunCondition => {
  const [first] = parts;
  if (first === undefined) return { is: 'all', of: [] };
  // Alone, it says that no entry has the value; beside others, that this one has another.
  if (parts.length === 1 && first.isNegated)
    return { is: 'not', of: joinEntries([{ ...first, isNegated: false }], at) };
  const keyed = parts.filter((part) => part.of === 'key');
  if (keyed.length > 1)
    throw new FilterError(
      'In one and() there is one key of a kind; put each pair into an and() of its own',
      at,
    );
  const keys = keyed[0]?.keys ?? null;
  const values = parts.flatMap((part) => (part.of === 'value' ? [negate(part.test, part.isNegated)] : []));
  const { family } = first;
  if (family !== 'feedback') return { is: 'entry', of: family, keys, tests: values };
  const scores = parts.flatMap((part) => {
    if (part.of !== 'score') return [];
    if (part.isNegated)
      throw new FilterError('neq(feedback_score, …) cannot stand beside another of feedback', at);
    return [part.test];
  });
  return { is: 'feedback', keys, scores, values };
};

const negate = (test: ValueTest, isNegated: boolean): ValueTest =>
  isNegated && test.op === 'in' ? { op: 'not in', values: test.values } : test;
