// Receives the trace runs of the runs that the engine executes.

/** One POST or PATCH of a trace run. */
export interface ExecutedTraceRun {
  operation: 'post' | 'patch';
  id: string;
  /** All fields except the payloads. */
  main: Record<string, unknown>;
  /** Fields that are stored as the JSON text that was sent. */
  payloads: Partial<Record<'inputs' | 'outputs' | 'events' | 'extra' | 'error', TracePayload>>;
  /** 64 bits in decimal, different for each write: storing the same write again changes nothing. */
  hash: string;
  /** The run of the deployment API. */
  run_id: string;
  isPending: boolean;
  /** True when it was stored as pending before. */
  wasPending: boolean;
}

interface TracePayload {
  text: string;
  value: unknown;
}

/** Resolves when the trace runs are stored, as far as they can be. */
export type TraceSink = (runs: ExecutedTraceRun[]) => Promise<void>;
