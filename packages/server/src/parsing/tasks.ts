// What parser threads do. Inputs and outputs are structured clones: plain data, texts and bytes.
import type { Fault, ProblemCode } from '@svc/contract/problem';
import type { MatchInput, RenderInput } from '../deployment/threads/state-rendering.ts';
import type { BatchSlice, IngestInput, IngestQuestion } from '../platform/traces/ingest-task.ts';
import type { JsonBytes } from './json-bytes.ts';
import type { JsonLimits } from './json-limits.ts';

/** Bytes of a body, in the order in which they came. */
export type Chunks = Uint8Array<ArrayBuffer>[];

export interface ParsedBody {
  value: unknown;
  /** In place of `value`: the same as text, when the main thread parses it faster than it takes it over. */
  json?: string;
  /** Members of the body that were taken out of `value`, as JSON text. */
  texts: Record<string, string>;
}

/** Name of a task to what it takes, what it asks the main thread while it runs, and what it returns. */
export interface ParserTasks {
  /** A JSON body. */
  json: {
    input: { chunks: Chunks; limits: JsonLimits; textFields: readonly string[] };
    question: never;
    output: ParsedBody;
  };
  /** States of threads as JSON. */
  states: { input: RenderInput; question: never; output: JsonBytes[] };
  /** Which values of threads contain what is wanted. */
  match: { input: MatchInput; question: never; output: boolean[] };
  /** A batch of traces. */
  ingest: { input: IngestInput; question: IngestQuestion; output: BatchSlice };
}

export type TaskName = keyof ParserTasks;

export type ToThread =
  | { kind: 'task'; name: TaskName; input: unknown }
  /** Answers `ask`. */
  | { kind: 'reply'; value?: unknown; problem?: ProblemData };

export type FromThread =
  | { kind: 'done'; output?: unknown; problem?: ProblemData }
  | { kind: 'ask'; question: unknown };

/** An error as data. Without a code it is a bug of ours. */
export interface ProblemData {
  code: ProblemCode | undefined;
  message: string;
  faults: Fault[] | undefined;
  stack: string | undefined;
}
