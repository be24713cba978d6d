// Runs from a request of an OpenTelemetry exporter.
import { Problem } from '@svc/contract/problem';
import { parseJson } from '../json-text.ts';
import type { Batch } from '../read-parts.ts';
import { RunRejected } from '../sent-run.ts';
import { readJson } from './read-json.ts';
import { readProtobuf } from './read-protobuf.ts';
import type { SpanSink } from './span.ts';
import { type SpanRun, tellApart } from './tell-apart.ts';
import { toRun } from './to-run.ts';

export interface OtlpRequest {
  format: 'protobuf' | 'json';
  /** Name of the project, when the request gives one. */
  project: string | undefined;
  /** The OpenTelemetry traces of runs that are stored, by the ids of those. */
  tracesOf: (run_ids: string[]) => Promise<ReadonlyMap<string, string>>;
}

/** Throws a Problem when the body is no such request; what is wrong with single spans is said beside the others. */
export const readOtlp = async (
  body: AsyncIterable<Uint8Array>,
  { format, project, tracesOf }: OtlpRequest,
): Promise<Batch> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const rejections: Batch['rejections'] = [];
  const spans: SpanRun[] = [];
  const sink: SpanSink = {
    span(span, origin) {
      try {
        spans.push({ run: toRun(span, origin, project), trace_id: span.trace_id });
      } catch (error) {
        if (!(error instanceof RunRejected)) throw error;
        rejections.push({ id: span.span_id, message: error.message });
      }
    },
    fault: (message) => void rejections.push({ id: null, message }),
  };
  if (format === 'protobuf') readProtobuf(bytes, sink);
  else readJsonBody(bytes, sink);
  await tellApart(spans, tracesOf);
  return { runs: spans.map(({ run }) => run), attachments: [], rejections };
};

const readJsonBody = (bytes: Uint8Array, sink: SpanSink): void => {
  try {
    readJson(parseJson(bytes, 'the body'), sink);
  } catch (cause) {
    if (cause instanceof RunRejected) throw new Problem('bad_request', `${cause.message}.`, { cause });
    throw cause;
  }
};
