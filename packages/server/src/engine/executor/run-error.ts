import type { RunError } from '../dispatch/protocol.ts';
import { errorName, messageOf } from '../codec/bounded-text.ts';

/** Converts an exception of a graph to the form that is stored and reported: its class and its message. The stack is logged, and stored with the run. */
export const errorOf = (thrown: unknown): RunError => {
  if (thrown instanceof Error) return { error: errorName(thrown), message: messageOf(thrown) };
  const message =
    typeof thrown === 'string' ? messageOf(thrown) : 'The graph threw a value that is not an Error';
  return { error: 'Error', message };
};
