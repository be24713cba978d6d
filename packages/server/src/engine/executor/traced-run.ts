// A run of a trace on its way to the store: what was said of it so far, as ingest takes it.
import { randomBytes } from 'node:crypto';
import type { Run } from '@langchain/core/tracers/base';
import type { ExecutedTraceRun } from './trace-sink.ts';
import { traceFacts, traceLabels } from './trace-text.ts';

export interface TracedRun {
  run: Run;
  /** Keys that every run of the tree carries. */
  keys: Record<string, unknown>;
  project: string;
  /** JSON text. */
  inputs: string;
  outputs: string | undefined;
  isEnded: boolean;
  /** Whether the store has its inputs. */
  isKnown: boolean;
  /** Whether it was stored while it had not ended. */
  isStoredPending: boolean;
  /** Of what was said last, 64 bits in decimal: so that what is stored again changes nothing. */
  write: string;
}

/** About how much memory it takes. */
export const sizeOf = ({ inputs, outputs }: TracedRun): number =>
  1_000 + inputs.length + (outputs?.length ?? 0);

/** Different for each call, in whatever process. */
export const writeIds = (): (() => string) => {
  let last = randomBytes(8).readBigInt64LE();
  return () => String((last = BigInt.asIntN(64, last + 1n)));
};

/** A run that has ended is told as a patch, whole when it is not known yet: then it has the last word on everything. */
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
      // Only of a model are they looked into, for tokens.
      ...(outputs === undefined ? {} : { outputs: { text: outputs, value: run.outputs } }),
      ...(error === undefined ? {} : { error: { text: error, value: error } }),
      events: { text: texts.events, value: events },
      extra: { text: texts.extra, value: extra },
    },
    hash: write,
  };
};
