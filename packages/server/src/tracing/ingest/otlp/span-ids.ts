// Resolves collisions of span ids. A span id has 64 bits and is unique only within its trace. When another trace has already stored a run
// with the id of a span, the span's run gets an id that is derived from trace id and span id. Two concurrent requests may both find no
// stored run, and then use the same id.
import { hashUuid } from '../hash-uuid.ts';
import type { SentRun } from '../sent-run.ts';
import { isSpanRunId } from './to-run.ts';

export interface SpanRun {
  run: SentRun;
  /** The trace id of OpenTelemetry. */
  trace_id: string;
}

/** `find` returns the OpenTelemetry trace ids of stored runs, by run id. */
export const resolveSpanIds = async (
  spans: readonly SpanRun[],
  find: (ids: string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<void> => {
  const mentioned = spans.flatMap(({ run }) => [run.id, run.main['parent_run_id']]).filter(isSpanRunId);
  const traces = new Map(await find([...new Set(mentioned)]));
  for (const { run, trace_id } of spans)
    if (isSpanRunId(run.id) && !traces.has(run.id)) traces.set(run.id, trace_id);
  const resolve = (id: string, trace_id: string): string =>
    (traces.get(id) ?? trace_id) === trace_id ? id : hashUuid(trace_id, id);
  for (const { run, trace_id } of spans) {
    const { parent_run_id } = run.main;
    // A dotted_order contains the ids already.
    if (run.main['dotted_order'] !== undefined) continue;
    if (isSpanRunId(run.id)) run.main['id'] = run.id = resolve(run.id, trace_id);
    if (isSpanRunId(parent_run_id)) run.main['parent_run_id'] = resolve(parent_run_id, trace_id);
  }
};
