// A trace run that waits to be stored: its fields so far, in the form in which traces are ingested.
import { randomBytes } from 'node:crypto';
import type { Run } from '@langchain/core/tracers/base';
import { traceFacts, traceLabels } from './trace-text.ts';

export interface TracedRun {
  run: Run;
  /** Metadata of every trace run of the tree. */
  keys: Record<string, unknown>;
  project: string;
  /** JSON text. */
  inputs: string;
  outputs: string | undefined;
  isEnded: boolean;
  /** True when its inputs are stored. */
  isKnown: boolean;
  /** True when it was stored before it ended. */
  isStoredPending: boolean;
  /** Id of its last change, 64 bits in decimal: storing the same change again has no effect. */
  write: string;
}

/** Approximate bytes in memory. */
export const sizeOf = ({ inputs, outputs }: TracedRun): number =>
  1_000 + inputs.length + (outputs?.length ?? 0);

/** Returns a function that returns ids which are unique, also between processes. */
export const writeIds = (): (() => string) => {
  let last = randomBytes(8).readBigInt64LE();
  return () => String((last = BigInt.asIntN(64, last + 1n)));
};

/** A trace run that has ended is sent as a patch, with all fields if it was not stored before: a patch has priority over posts. */
export const toSentRun = ({
  run,
  keys,
  project,
  inputs,
  outputs,
  isEnded,
  isKnown,
  isStoredPending,
  write,
}: TracedRun): ExecutedTraceRun => {
  const { id, trace_id, parent_run_id, dotted_order, name, run_type, tags, error, events } = run;
  const { metadata = {}, invocation_params, batch_size } = run.extra ?? {};
  const extra = {
    ...(invocation_params === undefined ? {} : traceFacts({ invocation_params, batch_size })),
    metadata: { ...traceLabels(metadata as Record<string, unknown>), ...keys },
  };
  const main = {
    trace_id,
    parent_run_id,
    dotted_order,
    name,
    run_type,
    tags,
    session_name: project,
    ...(run.end_time === undefined ? {} : { end_time: run.end_time }),
  };
  const operation = isEnded ? 'patch' : 'post';
  const texts = { events: JSON.stringify(events), extra: JSON.stringify(extra) };
  return {
    run_id: String(keys['run_id']),
    isPending: !isEnded,
    wasPending: isStoredPending,
    operation,
    id,
    main,
    payloads: {
      ...(isEnded && isKnown ? {} : { inputs: { text: inputs, value: undefined } }),
      // Only the outputs of a model are inspected, for tokens.
      ...(outputs === undefined ? {} : { outputs: { text: outputs, value: run.outputs } }),
      ...(error === undefined ? {} : { error: { text: error, value: error } }),
      events: { text: texts.events, value: events },
      extra: { text: texts.extra, value: extra },
    },
    hash: write,
  };
};

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
