// What the dispatcher reports about attempts, for spans.
import type { RunCommand, RunStatus } from './protocol.ts';

export interface StartedAttempt {
  readonly command: Pick<
    RunCommand,
    'run_id' | 'thread_id' | 'assistant_id' | 'graph_id' | 'attempt' | 'temporary'
  >;
  /** Monotonic milliseconds, from before the claim. */
  readonly sinceMs: number;
  /** How long the run was pending; undefined when that is not known. */
  readonly waitedMs: number | undefined;
}

/** `lost`: another attempt may follow, and the run may be charged. `released`: given back without a charge. */
export type AttemptOutcome = RunStatus | 'lost' | 'released';

/** Called when an attempt starts. The result is called once, when it has ended. Neither may throw. */
export type ObserveAttempt = (started: StartedAttempt) => (outcome: AttemptOutcome) => void;
