// Sends spans and metrics of the server with the SDK of OpenTelemetry. Nothing is registered globally, because graphs, and programs that
// contain the server, use OpenTelemetry for themselves.
import type { Resource } from '@opentelemetry/resources';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { OtlpReceiver, TelemetrySettings } from '../../config/settings/telemetry-settings.ts';
import { closedInTime } from '../closed-in-time.ts';
import type { ServerTelemetry, TelemetrySources } from '../server-telemetry.ts';
import { AttemptSpans, CreatedRuns, RequestSpans } from './spans.ts';
import { FailureLog } from './failure-log.ts';
import { metricProducer } from './metric-producer.ts';
import { metricExporter, spanExporter } from './otlp-exporters.ts';
import { serverResource } from './server-resource.ts';

/** Ended spans that wait to be sent. Later ones are dropped. */
const waitingSpansMax = 2_048;
const batchSpansMax = 512;

interface Part {
  shutdown(): Promise<void>;
}

export const startOtlpExport = (
  settings: TelemetrySettings,
  { version, instanceId, readMetrics, logger }: TelemetrySources,
): ServerTelemetry => {
  const resource = serverResource(settings, { version, instanceId });
  const parts: Part[] = [];
  if (settings.metrics) {
    const failures = new FailureLog('failed to send metrics', settings.metrics.url, logger);
    const reader = new PeriodicExportingMetricReader({
      exporter: metricExporter(settings.metrics, failures),
      exportIntervalMillis: settings.metricIntervalMs,
    });
    reader.setMetricProducer(metricProducer({ resource, version, readMetrics, failures }));
    parts.push(reader);
  }
  const spans = settings.spans && startSpans(settings, settings.spans, { resource, version, logger });
  if (spans) parts.push(spans.provider);
  return {
    startRequest: spans?.startRequest,
    startAttempt: spans?.startAttempt,
    [Symbol.asyncDispose]: async () => {
      // The exporters report their failures.
      const closing = Promise.allSettled(parts.map((part) => part.shutdown()));
      if (!(await closedInTime(closing))) logger.warn('the last spans and metrics could not be sent in time');
    },
  };
};

const startSpans = (
  settings: TelemetrySettings,
  receiver: OtlpReceiver,
  { resource, version, logger }: { resource: Resource; version: string } & Pick<TelemetrySources, 'logger'>,
) => {
  const failures = new FailureLog('failed to send spans', receiver.url, logger);
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(settings.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: spanExporter(receiver, failures),
        scheduledDelayMillis: settings.spanDelayMs,
        maxQueueSize: waitingSpansMax,
        maxExportBatchSize: batchSpansMax,
      }),
    ],
  });
  const tracer = provider.getTracer('svc', version);
  const created = new CreatedRuns();
  const requests = new RequestSpans(tracer, created);
  const attempts = new AttemptSpans(tracer, created);
  return { provider, startRequest: requests.start, startAttempt: attempts.start };
};

/** The sampler of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`. */
const samplerOf = ({ name, ratio }: TelemetrySettings['sampler']): Sampler => {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
};
