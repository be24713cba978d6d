// The trace runs of traces.ts as spans of OpenTelemetry, in the protobuf of the official exporter.
import { gzipSync } from 'node:zlib';
import { context, trace } from '@opentelemetry/api';
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type BenchRun, newTraces } from './traces.ts';

const attributesOf = ({
  name,
  run_type,
  inputs,
  outputs,
  tags,
  extra,
}: BenchRun): Record<string, string | number> => {
  const { metadata, invocation_params } = extra;
  const { usage_metadata, ...shown } = outputs;
  return {
    'langsmith.trace.name': name,
    'langsmith.span.kind': run_type,
    'langsmith.trace.session_name': 'bench',
    'langsmith.span.tags': tags.join(','),
    'input.value': JSON.stringify(inputs),
    'output.value': JSON.stringify(shown),
    'gen_ai.request.model': invocation_params.model,
    'llm.invocation_parameters': JSON.stringify(invocation_params),
    'gen_ai.usage.input_tokens': usage_metadata.input_tokens,
    'gen_ai.usage.output_tokens': usage_metadata.output_tokens,
    ...Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [`langsmith.metadata.${key}`, value]),
    ),
  };
};

/** Whole traces: a span is exported when it has ended. */
export const makeSpanRequests = (count: number, zipped: boolean): Buffer[] =>
  Array.from({ length: count }, () => {
    const memory = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'bench' }),
      spanProcessors: [new SimpleSpanProcessor(memory)],
    });
    const tracer = provider.getTracer('bench');
    for (const [first, ...others] of newTraces()) {
      if (first === undefined) continue;
      const root = tracer.startSpan(first.name, { attributes: attributesOf(first) });
      for (const run of others)
        tracer
          .startSpan(run.name, { attributes: attributesOf(run) }, trace.setSpan(context.active(), root))
          .end();
      root.end();
    }
    const body = Buffer.from(ProtobufTraceSerializer.serializeRequest(memory.getFinishedSpans()) ?? []);
    return zipped ? gzipSync(body) : body;
  });

export const spanHeaders = (key: string, zipped: boolean): Record<string, string> => ({
  'x-api-key': key,
  'content-type': 'application/x-protobuf',
  ...(zipped ? { 'content-encoding': 'gzip' } : {}),
});
