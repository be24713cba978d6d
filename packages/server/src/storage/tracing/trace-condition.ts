// What can be asked of a run. Each part holds or does not, also where the run says nothing: of nothing, only `empty` holds.
// One reading of it is SQL (trace-conditions.ts), another works in memory (tracing/filter/evaluate.ts).

export type IdField = 'id' | 'trace_id' | 'parent_run_id' | 'reference_example_id';
export type TextField = IdField | 'name' | 'run_type' | 'status' | 'error' | 'thread_id' | 'model';
export type PayloadField = 'inputs' | 'outputs';
export type NumberField =
  | 'latency'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'total_tokens'
  | 'prompt_cost'
  | 'completion_cost'
  | 'total_cost';
export type TimeField = 'start_time' | 'end_time' | 'first_token_time';

export type Order = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

export type TextTest =
  | { op: 'in'; values: string[] }
  /** `%` is any text and `_` any character; nothing is escaped. */
  | { op: 'like'; pattern: string }
  /** Anywhere in it, whatever the case of A to Z. */
  | { op: 'search'; text: string };

/** Of a value in JSON. Texts and numbers are equal when they are written alike. */
export type ValueTest =
  | { op: 'in'; values: string[] }
  | { op: 'not in'; values: string[] }
  | { op: 'like'; pattern: string }
  | { op: 'search'; text: string }
  | { op: Exclude<Order, 'eq'>; number: string };

export interface NumberTest {
  op: Order;
  /** A decimal. */
  number: string;
}

export type RunCondition =
  | { is: 'all' | 'any'; of: RunCondition[] }
  | { is: 'not'; of: RunCondition }
  | { is: 'root' }
  | { is: 'empty'; field: TextField | PayloadField | NumberField | TimeField }
  | { is: 'text'; field: TextField; test: TextTest }
  | { is: 'payload'; field: PayloadField; test: TextTest }
  /** Latency in seconds. */
  | { is: 'number'; field: NumberField; test: NumberTest }
  /** ISO 8601 with microseconds. */
  | { is: 'time'; field: TimeField; op: Order; time: string }
  | { is: 'tag'; tag: string }
  /** All of it is in the metadata, in the sense of jsonb. */
  | { is: 'metadata'; has: Record<string, unknown> }
  /** One entry, of one of these keys (any, when null), passes every test. */
  | { is: 'entry'; of: 'metadata' | PayloadField; keys: string[] | null; tests: ValueTest[] }
  /** One feedback passes every test. */
  | { is: 'feedback'; keys: string[] | null; scores: NumberTest[]; values: ValueTest[] };
