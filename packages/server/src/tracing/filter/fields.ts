// The fields of the filter language and their types.
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
