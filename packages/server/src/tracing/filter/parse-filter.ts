// Converts the text of a filter to a condition on trace runs.
import type {
  NumberTest,
  Order,
  TextTest,
  TraceRunCondition,
  ValueTest,
} from '../../storage/tracing/trace-condition.ts';
import {
  booleanOf,
  type EntryField,
  type EntrySource,
  fields,
  idOf,
  isNull,
  listOf,
  numberOf,
  objectOf,
  type RunField,
  secondsOf,
  stringOf,
  textOf,
  timeOf,
} from './fields.ts';
import { FilterError, type Node, parse } from './parse.ts';

const comparators = [
  'eq',
  'neq',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'has',
  'search',
  'like',
  'contain',
  'exists',
] as const;
type Comparator = (typeof comparators)[number];

/** Throws FilterError. */
export const parseFilter = (text: string): TraceRunCondition => toCondition(parse(text));

type Call = Extract<Node, { kind: 'call' }>;

const toCondition = (node: Node): TraceRunCondition => {
  if (node.kind !== 'call') throw new FilterError('Expected a call such as eq(name, "x")', node.at);
  switch (node.name) {
    case 'and':
      return every(node);
    case 'or':
      return { is: 'any', of: node.of.map(toCondition) };
    case 'not': {
      const [inner] = arity(node, 1);
      return { is: 'not', of: toCondition(inner) };
    }
    default: {
      const part = comparison(node);
      return 'source' in part ? joinEntries([part], node.at) : part;
    }
  }
};

/** Joins comparisons on entries of the same source, so that they apply to the same entry. */
const every = (node: Call): TraceRunCondition => {
  const bySource = new Map<string, EntryPart[]>();
  const of: TraceRunCondition[] = [];
  for (const inner of node.of) {
    const isComparison = inner.kind === 'call' && !['and', 'or', 'not'].includes(inner.name);
    const part = isComparison ? comparison(inner) : toCondition(inner);
    if (!('source' in part)) of.push(part);
    else bySource.set(part.source, [...(bySource.get(part.source) ?? []), part]);
  }
  for (const parts of bySource.values()) of.push(joinEntries(parts, node.at));
  return { is: 'all', of };
};

const arity = (node: Call, count: number): [Node, Node] => {
  const [first, second = first] = node.of;
  if (node.of.length !== count || !first || !second)
    throw new FilterError(
      `${node.name}() takes ${count === 1 ? 'one argument' : `${count} arguments`}`,
      node.at,
    );
  return [first, second];
};

const comparison = (node: Call): TraceRunCondition | EntryPart => {
  const op = comparators.find((known) => known === node.name);
  if (op === undefined) throw new FilterError(`Unknown operator ${node.name}()`, node.at);
  if (op === 'search' && node.of.length === 1) return searchAll(stringOf(arity(node, 1)[0]));
  const [named, value] = arity(node, op === 'exists' ? 1 : 2);
  const field = named.kind === 'name' ? fields.get(named.text) : undefined;
  if (field === undefined || named.kind !== 'name')
    throw new FilterError('Expected the name of a field', named.at);
  const refuse = (): FilterError => new FilterError(`${op}() cannot be used with ${named.text}`, node.at);
  if (field.type === 'key' || field.type === 'value' || field.type === 'score')
    return entryPart(field, op, value, refuse);
  return ofRun(field, op, value, refuse);
};

const not = (of: TraceRunCondition): TraceRunCondition => ({ is: 'not', of });

const searchAll = (text: string): TraceRunCondition => {
  const test = { op: 'search', text } as const;
  return {
    is: 'any',
    of: [
      { is: 'text', field: 'name', test },
      { is: 'text', field: 'error', test },
      { is: 'payload', field: 'inputs', test },
      { is: 'payload', field: 'outputs', test },
    ],
  };
};

const ofRun = (
  field: RunField,
  op: Comparator,
  value: Node,
  refuse: () => FilterError,
): TraceRunCondition => {
  const isEquality = op === 'eq' || op === 'neq';
  if ('column' in field && (op === 'exists' || (isEquality && isNull(value)))) {
    const empty: TraceRunCondition = { is: 'empty', field: field.column };
    return op === 'eq' ? empty : not(empty);
  }
  if (op === 'neq') return not(ofRun(field, 'eq', value, refuse));
  switch (field.type) {
    case 'id':
    case 'text':
      // eq(error, true) and eq(error, false) test whether the run has an error.
      if (field.column === 'error' && op === 'eq' && booleanOf(value) !== undefined) {
        const empty: TraceRunCondition = { is: 'empty', field: 'error' };
        return booleanOf(value) ? not(empty) : empty;
      }
      return { is: 'text', field: field.column, test: textTest(field, op, value, refuse) };
    case 'payload':
      return { is: 'payload', field: field.column, test: textTest(field, op, value, refuse) };
    case 'number': {
      const read = field.column === 'latency' ? secondsOf : numberOf;
      const one = (order: Order, node: Node): TraceRunCondition => ({
        is: 'number',
        field: field.column,
        test: { op: order, number: read(node) },
      });
      if (op === 'in') return { is: 'any', of: listOf(value, (node) => one('eq', node)) };
      return one(orderOf(op, refuse), value);
    }
    case 'time':
      return { is: 'time', field: field.column, op: orderOf(op, refuse), time: timeOf(value) };
    case 'root': {
      const isRoot = booleanOf(value);
      if (op !== 'eq') throw refuse();
      if (isRoot === undefined) throw new FilterError('Expected true or false', value.at);
      return isRoot ? { is: 'root' } : not({ is: 'root' });
    }
    case 'order':
      if (op !== 'eq' || value.kind !== 'number' || value.text !== '1') throw refuse();
      return { is: 'root' };
    case 'tags':
      if (op === 'in')
        return { is: 'any', of: listOf(value, (node) => ({ is: 'tag', tag: stringOf(node) })) };
      if (op !== 'has') throw refuse();
      return { is: 'tag', tag: stringOf(value) };
    case 'metadata':
      if (op !== 'has') throw refuse();
      return { is: 'metadata', has: objectOf(value) };
  }
};

const textTest = (
  field: Extract<RunField, { type: 'id' | 'text' | 'payload' }>,
  op: Comparator,
  value: Node,
  refuse: () => FilterError,
): TextTest => {
  const read = field.type === 'id' ? idOf : textOf;
  if (op === 'eq' && field.type !== 'payload') return { op: 'in', values: [read(value)] };
  if (op === 'in' && field.type !== 'payload') return { op: 'in', values: listOf(value, read) };
  if (field.type === 'id') throw refuse();
  if (op === 'like' && field.type === 'text') return { op: 'like', pattern: stringOf(value) };
  if (op === 'search' || op === 'contain') return { op: 'search', text: stringOf(value) };
  throw refuse();
};

const orderOf = (op: Comparator, refuse: () => FilterError): Order => {
  if (op === 'eq' || op === 'gt' || op === 'gte' || op === 'lt' || op === 'lte') return op;
  throw refuse();
};

// Comparisons on entries: keys and values of metadata, inputs and outputs, and feedback, which also has a score.

/** One comparison on an entry. Comparisons on the same source within one `and` apply to the same entry. */
type EntryPart = { source: EntrySource; isNegated: boolean } & (
  | { of: 'key'; keys: string[] }
  | { of: 'value'; test: ValueTest }
  | { of: 'score'; test: NumberTest }
);

const entryPart = (
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
const joinEntries = (parts: readonly EntryPart[], at: number): TraceRunCondition => {
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
