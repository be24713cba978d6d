// Sends spans and metrics of the server with the SDK of OpenTelemetry. Nothing is registered globally, because graphs, and programs that
// contain the server, use OpenTelemetry for themselves.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { OtlpReceiver, TelemetrySettings } from '../../config/settings/telemetry-settings.ts';
import type { ServerTelemetry, TelemetrySources } from '../server-telemetry.ts';
import { AttemptSpans } from './attempt-spans.ts';
import { CreatedRuns } from './created-runs.ts';
import { FailureLog } from './failure-log.ts';
import { metricProducer } from './metric-producer.ts';
import { metricExporter, spanExporter } from './otlp-exporters.ts';
import { RequestSpans } from './request-spans.ts';
import { samplerOf } from './sampler.ts';

/** How long a stop waits until the last spans and metrics are sent. */
const closeMsMax = 3_000;
/** Ended spans that wait to be sent. Later ones are dropped. */
const waitingSpansMax = 2_048;
const batchSpansMax = 512;

interface Part {
  shutdown(): Promise<void>;
}

export const startOtlpExport = (
  settings: TelemetrySettings,
  { version, readMetrics, logger }: TelemetrySources,
): ServerTelemetry => {
  const resource = defaultResource().merge(
    resourceFromAttributes({
      'service.version': version,
      'service.instance.id': randomUUID(),
      ...settings.resource,
    }),
  );
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
      if (!(await closeAll(parts))) logger.warn('the last spans and metrics could not be sent in time');
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

/** Resolves with false when it takes longer than `closeMsMax`. */
const closeAll = async (parts: Part[]): Promise<boolean> => {
  const waiting = new AbortController();
  // The exporters report their failures.
  const closed = Promise.allSettled(parts.map((part) => part.shutdown())).then(() => true);
  const timeout = sleep(closeMsMax, false, { signal: waiting.signal }).catch(() => false); // aborted below
  const isClosed = await Promise.race([closed, timeout]);
  waiting.abort();
  return isClosed;
};
