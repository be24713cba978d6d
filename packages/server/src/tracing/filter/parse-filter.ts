// Converts the text of a filter to a condition on trace runs.
import type { Order, TraceRunCondition, TextTest } from '../../storage/tracing/trace-condition.ts';
import { type Comparator, comparators } from './comparator.ts';
import { type EntryPart, entryPart, joinEntries } from './entries.ts';
import { fields, type RunField } from './fields.ts';
import { FilterError } from './filter-error.ts';
import { type Node, parse } from './parse.ts';
import {
  booleanOf,
  idOf,
  isNull,
  listOf,
  numberOf,
  objectOf,
  secondsOf,
  stringOf,
  textOf,
  timeOf,
} from './values.ts';

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
