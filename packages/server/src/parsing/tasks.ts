// The messages between the main thread and a parser thread. Inputs and outputs are structured clones: plain data, texts and bytes.
import { type Fault, Problem, type ProblemCode } from '@svc/contract/problem';

/** The types of a task: its input, its questions to the main thread while it runs, and its output. */
export interface Task {
  input: unknown;
  question: unknown;
  output: unknown;
}

/** Runs tasks by their names. */
export interface TaskRunner<T extends { [N in keyof T]: Task }> {
  /**
   * Runs a task in a thread. `answer` answers the questions of the task. The buffers in `transfer` cannot be used by the caller any
   * more. Throws `unavailable` when too many tasks wait, or when the thread times out or ends.
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

/** An error as data. An error without a code is a bug. */
export interface ProblemData {
  code: ProblemCode | undefined;
  message: string;
  faults: Fault[] | undefined;
  stack: string | undefined;
}

export const toProblemData = (thrown: unknown): ProblemData => {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const problem = error instanceof Problem ? error : undefined;
  return { code: problem?.code, message: error.message, faults: problem?.faults, stack: error.stack };
};

export const fromProblemData = ({ code, message, faults, stack }: ProblemData): Error => {
  if (code === undefined) return Object.assign(new Error(message), { stack });
  return new Problem(code, message, faults ? { faults } : {});
};
