import type { RunError } from '../dispatch/protocol.ts';
import { errorName, messageOf } from '../codec/bounded-text.ts';

/** An exception of a graph as it is stored and reported: its class and its message. The stack stays in the log. */
export const errorOf = (thrown: unknown): RunError => {
  if (thrown instanceof Error) return { error: errorName(thrown), message: messageOf(thrown) };
  const message =
    typeof thrown === 'string' ? messageOf(thrown) : 'The graph threw something that is not an Error';
  return { error: 'Error', message };
};
