// How an attempt of a run ends.
import { isUnavailable } from '../../../storage/postgres/sql-state.ts';
import { LeaseLost } from '../../checkpoints/commit-queue.ts';
import type { RunError, RunStatus, StopReason } from '../../dispatch/protocol.ts';
import { errorName, messageOf } from '../../codec/bounded-text.ts';

/** `values`: the final values as wire JSON, where the outcome keeps them. */
export interface Outcome {
  status: RunStatus;
  error: RunError | null;
  stack: string | undefined;
  values: string | null;
}

/** True when the engine has ended the run before its next superstep, as requested. By name: a project may have its own copy of the engine. */
export const isDrained = (thrown: unknown): boolean => (thrown as Error | undefined)?.name === 'GraphDrained';

/** True when the attempt cannot store its outcome for a reason outside of the graph. Another attempt may succeed. */
export const isAttemptLost = (error: unknown): boolean => error instanceof LeaseLost || isUnavailable(error);

export const outcomeOf = (
  stopped: StopReason | undefined,
  thrown: unknown,
): { status: RunStatus; error: RunError | null } => {
  if (stopped === 'cancelled') return { status: 'interrupted', error: null };
  if (stopped === 'timeout') {
    return { status: 'timeout', error: { error: 'RunTimeout', message: 'The run exceeded its time limit' } };
  }
  return thrown === undefined
    ? { status: 'success', error: null }
    : { status: 'error', error: errorOf(thrown) };
};

/** Converts an exception of a graph to the form that is stored and reported: its class and its message. The stack is logged, and stored with the run. */
export const errorOf = (thrown: unknown): RunError => {
  if (thrown instanceof Error) return { error: errorName(thrown), message: messageOf(thrown) };
  const message =
    typeof thrown === 'string' ? messageOf(thrown) : 'The graph threw a value that is not an Error';
  return { error: 'Error', message };
};

/** The run cannot start, and has executed nothing: its thread stays as it was. */
export class RunRefused extends Error {
  override readonly name = 'RunRefusedError';
}
