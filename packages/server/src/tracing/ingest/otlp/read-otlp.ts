// Reads trace runs from a request of an OpenTelemetry exporter.
import { Problem } from '@svc/contract/problem';
import type { JsonBudget } from '../../../json/json-limits.ts';
import { hashUuid } from '../hash-uuid.ts';
import { parseJson } from '../sent-json.ts';
import { type Batch, emptyBatch } from '../read-parts.ts';
import { assertRuns, RunRejected, type SentRun } from '../sent-run.ts';
import { readJson } from './read-json.ts';
import { readProtobuf } from './read-protobuf.ts';
import type { SpanSink } from './span.ts';
import { isSpanRunId, toRun } from './to-run.ts';

/** Returns the OpenTelemetry trace ids of stored runs, by run id. */
export type TracesOf = (run_ids: string[]) => Promise<ReadonlyMap<string, string>>;

export interface OtlpRequest {
  format: 'protobuf' | 'json';
  /** Name of the project from a header, if the request has one. */
  project: string | undefined;
}

/** Throws a Problem when the body is not an ExportTraceServiceRequest. Invalid single spans are added to the rejections. */
export const readOtlp = async (
  body: Uint8Array,
  { format, project }: OtlpRequest,
  budget: JsonBudget,
  tracesOf: TracesOf,
): Promise<Batch> => {
  const batch = emptyBatch();
  const spans: SpanRun[] = [];
  const sink: SpanSink = {
    span(span, origin) {
      assertRuns(spans.length + 1);
      try {
        spans.push({ run: toRun(span, origin, project, budget), trace_id: span.trace_id });
      } catch (error) {
        if (!(error instanceof RunRejected)) throw error;
        batch.rejections.add(span.span_id, error.message);
      }
    },
    fault: (message) => batch.rejections.add(null, message),
  };
  if (format === 'protobuf') readProtobuf(body, sink, budget);
  else readJsonBody(body, sink, budget);
  await resolveSpanIds(spans, tracesOf);
  batch.runs = spans.map(({ run }) => run);
  return batch;
};

const readJsonBody = (bytes: Uint8Array, sink: SpanSink, budget: JsonBudget): void => {
  try {
    readJson(parseJson(bytes, 'the body', budget), sink);
  } catch (cause) {
    if (cause instanceof RunRejected) throw new Problem('bad_request', `${cause.message}.`, { cause });
    throw cause;
  }
};

interface SpanRun {
  run: SentRun;
  /** The trace id of OpenTelemetry. */
  trace_id: string;
}

/**
 * Resolves collisions of span ids. A span id has 64 bits and is unique only within its trace. When another trace has already stored a run
 * with the id of a span, the span's run gets an id that is derived from trace id and span id. Two concurrent requests may both find no
 * stored run, and then use the same id.
 * `find` returns the OpenTelemetry trace ids of stored runs, by run id.
 */
const resolveSpanIds = async (
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
