// Conditions on trace runs. For a missing value every test is false, except `empty`; `not` inverts that. In SQL, false may be null. They are
// evaluated in SQL (trace-condition-sql.ts), and in memory by tests (tracing/filter/evaluate.ts).

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
  /** `%` matches any text and `_` any character; there is no escape character. */
  | { op: 'like'; pattern: string }
  /** Substring search; the case of A to Z is ignored. */
  | { op: 'search'; text: string };

/** A test of a JSON value. A string equals a number that is written in the same way. */
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

export type TraceRunCondition =
  | { is: 'all' | 'any'; of: TraceRunCondition[] }
  | { is: 'not'; of: TraceRunCondition }
  | { is: 'root' }
  | { is: 'empty'; field: TextField | PayloadField | NumberField | TimeField }
  | { is: 'text'; field: TextField; test: TextTest }
  | { is: 'payload'; field: PayloadField; test: TextTest }
  /** Latency in seconds. */
  | { is: 'number'; field: NumberField; test: NumberTest }
  /** ISO 8601 with microseconds. */
  | { is: 'time'; field: TimeField; op: Order; time: string }
  | { is: 'tag'; tag: string }
  /** Containment in the metadata, as jsonb `@>` defines it. */
  | { is: 'metadata'; has: Record<string, unknown> }
  /** One entry with one of these keys (null: any key) passes all tests. */
  | { is: 'entry'; of: 'metadata' | PayloadField; keys: string[] | null; tests: ValueTest[] }
  /** One feedback passes all tests. */
  | { is: 'feedback'; keys: string[] | null; scores: NumberTest[]; values: ValueTest[] };
