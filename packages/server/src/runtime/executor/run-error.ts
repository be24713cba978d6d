import type { RunError } from '../protocol.ts';

/** What is told of an exception of a graph: its class and its message. The stack stays in the log. */
export const errorOf = (thrown: unknown): RunError =>
  thrown instanceof Error
    ? { error: thrown.name, message: thrown.message }
    : {
        error: 'Error',
        message: typeof thrown === 'string' ? thrown : 'The graph threw something that is not an Error',
      };
