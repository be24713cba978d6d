// The fields of the filter language, their types, and the operands of comparisons.
import { toTime } from '../../api/time.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import { decimalText, parseDecimal, timesDecimal } from '../decimal.ts';
import { FilterError, type Node } from './parse.ts';
import { isRecord } from '../../json/is-record.ts';
import type {
  IdField,
  NumberField,
  PayloadField,
  TextField,
  TimeField,
} from '../../storage/tracing/trace-condition.ts';

export type RunField =
  | { type: 'id'; column: IdField }
  | { type: 'text'; column: Exclude<TextField, IdField> }
  | { type: 'payload'; column: PayloadField }
  | { type: 'number'; column: NumberField }
  | { type: 'time'; column: TimeField }
  | { type: 'root' | 'order' | 'tags' | 'metadata' };

export type EntryField =
  | { type: 'key'; of: EntrySource }
  | { type: 'value'; of: EntrySource }
  | { type: 'score' };

export type Field = RunField | EntryField;

/** Where entries come from. In one `and`, comparisons on the same source apply to the same entry. */
export type EntrySource = 'metadata' | PayloadField | 'feedback';

const id = (column: IdField): Field => ({ type: 'id', column });
const text = (column: Exclude<TextField, IdField>): Field => ({ type: 'text', column });
const number = (column: NumberField): Field => ({ type: 'number', column });
const time = (column: TimeField): Field => ({ type: 'time', column });

export const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ['id', id('id')],
  ['trace_id', id('trace_id')],
  ['parent_run_id', id('parent_run_id')],
  ['reference_example', id('reference_example_id')],
  ['reference_example_id', id('reference_example_id')],
  ['name', text('name')],
  ['run_type', text('run_type')],
  ['status', text('status')],
  ['error', text('error')],
  ['thread_id', text('thread_id')],
  ['model', text('model')],
  ['inputs', { type: 'payload', column: 'inputs' }],
  ['outputs', { type: 'payload', column: 'outputs' }],
  ['latency', number('latency')],
  ['prompt_tokens', number('prompt_tokens')],
  ['completion_tokens', number('completion_tokens')],
  ['total_tokens', number('total_tokens')],
  ['prompt_cost', number('prompt_cost')],
  ['completion_cost', number('completion_cost')],
  ['total_cost', number('total_cost')],
  ['start_time', time('start_time')],
  ['end_time', time('end_time')],
  ['first_token_time', time('first_token_time')],
  ['is_root', { type: 'root' }],
  ['execution_order', { type: 'order' }],
  ['tags', { type: 'tags' }],
  ['metadata', { type: 'metadata' }],
  ['metadata_key', { type: 'key', of: 'metadata' }],
  ['metadata_value', { type: 'value', of: 'metadata' }],
  ['input_key', { type: 'key', of: 'inputs' }],
  ['input_value', { type: 'value', of: 'inputs' }],
  ['output_key', { type: 'key', of: 'outputs' }],
  ['output_value', { type: 'value', of: 'outputs' }],
  ['feedback_key', { type: 'key', of: 'feedback' }],
  ['feedback_value', { type: 'value', of: 'feedback' }],
  ['feedback_score', { type: 'score' }],
]);

const valuesMax = 1_000;

export const isNull = (node: Node): boolean => node.kind === 'name' && node.text === 'null';

export const booleanOf = (node: Node): boolean | undefined =>
  node.kind !== 'name' ? undefined : node.text === 'true' ? true : node.text === 'false' ? false : undefined;

/** A string, or the text of a number, time or boolean. */
export const textOf = (node: Node): string => {
  if (node.kind === 'string' || node.kind === 'number' || node.kind === 'time') return node.text;
  if (node.kind === 'name' && booleanOf(node) !== undefined) return node.text;
  throw new FilterError('Expected a string in quotes', node.at);
};

export const stringOf = (node: Node): string => {
  if (node.kind !== 'string') throw new FilterError('Expected a string in quotes', node.at);
  return node.text;
};

export const idOf = (node: Node): string => {
  const id = textOf(node).toLowerCase();
  if (!isUuid(id)) throw new FilterError('Expected a UUID in quotes', node.at);
  return id;
};

export const numberOf = (node: Node): string => {
  const found = node.kind === 'number' || node.kind === 'string' ? parseDecimal(node.text) : undefined;
  if (found === undefined || (node.kind === 'string' && node.text.length > 60))
    throw new FilterError('Expected a number', node.at);
  return decimalText(found);
};

const secondsIn: Readonly<Record<string, string>> = {
  us: '0.000001',
  ms: '0.001',
  s: '1',
  m: '60',
  h: '3600',
};

/** Seconds, from a number of seconds or a string such as "1.5s", "200ms" or "2m". */
export const secondsOf = (node: Node): string => {
  const match = node.kind === 'string' ? /^(\d{1,15}(?:\.\d{1,15})?)(us|ms|s|m|h)$/.exec(node.text) : null;
  if (!match) return numberOf(node);
  const [amount, unit] = [parseDecimal(match[1] ?? ''), parseDecimal(secondsIn[match[2] ?? ''] ?? '')];
  if (!amount || !unit) throw new FilterError('Expected a number of seconds', node.at);
  return decimalText(timesDecimal(amount, unit));
};

/** A time without a zone is in UTC. */
export const timeOf = (node: Node): string => {
  const text = node.kind === 'time' || node.kind === 'string' ? node.text : '';
  const time = toTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (time === undefined) throw new FilterError('Expected a time such as "2026-11-21T08:00:00Z"', node.at);
  return time;
};

export const listOf = <T>(node: Node, read: (node: Node) => T): T[] => {
  if (node.kind !== 'list') throw new FilterError('Expected a list in brackets', node.at);
  if (node.of.length > valuesMax)
    throw new FilterError(`A list must have at most ${valuesMax} values`, node.at);
  return node.of.map(read);
};

export const objectOf = (node: Node): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(stringOf(node));
  } catch {
    value = undefined; // reported below
  }
  if (!isRecord(value)) throw new FilterError('Expected a JSON object in quotes', node.at);
  return value;
};
