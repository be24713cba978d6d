// Span ids have 64 bits, and only within a trace must they differ: a second trace with a span of the same id must not be mixed
// with the first. Its run gets an id made from both, always the same. Two requests at the very same time may miss each other.
import { createHash } from 'node:crypto';
import type { SentRun } from '../sent-run.ts';
import { isSpanRunId } from './to-run.ts';

export interface SpanRun {
  run: SentRun;
  /** Of OpenTelemetry. */
  trace_id: string;
}

/** `find`: the OpenTelemetry traces of runs that are stored, by the ids of those. */
export const tellApart = async (
  spans: readonly SpanRun[],
  find: (ids: string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<void> => {
  const mentioned = spans.flatMap(({ run }) => [run.id, run.main['parent_run_id']]).filter(isSpanRunId);
  const traces = new Map(await find([...new Set(mentioned)]));
  for (const { run, trace_id } of spans)
    if (isSpanRunId(run.id) && !traces.has(run.id)) traces.set(run.id, trace_id);
  const resolve = (id: string, trace_id: string): string =>
    (traces.get(id) ?? trace_id) === trace_id ? id : otherId(id, trace_id);
  for (const { run, trace_id } of spans) {
    const { parent_run_id } = run.main;
    // A dotted order has ids of its own in it.
    if (run.main['dotted_order'] !== undefined) continue;
    if (isSpanRunId(run.id)) run.main['id'] = run.id = resolve(run.id, trace_id);
    if (isSpanRunId(parent_run_id)) run.main['parent_run_id'] = resolve(parent_run_id, trace_id);
  }
};

/** A UUID of version 8, which is for such uses. */
const otherId = (id: string, trace_id: string): string => {
  const hash = createHash('sha256').update(trace_id).update(id).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
};
