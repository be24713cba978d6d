// Reads trace runs from a request of an OpenTelemetry exporter.
import { Problem } from '@svc/contract/problem';
import type { JsonBudget } from '../../../parsing/json-limits.ts';
import { parseJson } from '../json-text.ts';
import { type Batch, emptyBatch } from '../read-parts.ts';
import { assertRuns, RunRejected } from '../sent-run.ts';
import { readJson } from './read-json.ts';
import { readProtobuf } from './read-protobuf.ts';
import type { SpanSink } from './span.ts';
import { resolveSpanIds, type SpanRun } from './span-ids.ts';
import { toRun } from './to-run.ts';

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
