// Tasks of parser threads, as the messages that the main thread and a parser thread exchange. Inputs and outputs are structured
// clones: plain data, texts and bytes.
import type { Fault, ProblemCode } from '@svc/contract/problem';

/** What a task takes, what it asks the main thread while it runs, and what it returns. */
export interface Task {
  input: unknown;
  question: unknown;
  output: unknown;
}

/** Runs tasks, each known by its name. */
export interface TaskRunner<T extends { [N in keyof T]: Task }> {
  /**
   * Runs a task in a thread. `answer` answers the questions of the task. The buffers in `transfer` are gone for the caller. Throws
   * `unavailable` when too many tasks wait, or when the thread takes too long or ends.
   */
  run<N extends keyof T & string>(
    name: N,
    input: T[N]['input'],
    transfer?: readonly ArrayBuffer[],
    answer?: (question: T[N]['question']) => Promise<unknown>,
  ): Promise<T[N]['output']>;
}

export type ToThread =
  | { kind: 'task'; name: string; input: unknown }
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
