// Exporters of the SDK. Their configuration is given in full: otherwise they would read variables that may be those of graphs.
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  LogsExporterMetricsHelper,
  MetricsExporterMetricsHelper,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import type { LogRecordExporter, ReadableLogRecord } from '@opentelemetry/sdk-logs';
import {
  AggregationTemporality,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { OtlpReceiver } from '../../config/settings/telemetry-settings.ts';
import { otlpHeaders } from '../otlp-headers.ts';
import type { FailureLog } from './failure-log.ts';

/** For one batch, with its repetitions. */
const sendMsMax = 10_000;
/** Batches that may be sent at once. Each is in memory until it is sent or has failed. */
const sendingMax = 4;

type HttpOptions = Parameters<typeof createOtlpHttpExportDelegate>[0];

const optionsFor = (receiver: OtlpReceiver): HttpOptions => ({
  url: receiver.url,
  headers: () => Promise.resolve(otlpHeaders(receiver)),
  timeoutMillis: sendMsMax,
  concurrencyLimit: sendingMax,
  compression: 'gzip',
  agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
});

/** Reports failures: the SDK itself writes them to a global logger, which is not set. */
class ReportingExporter<T> extends OTLPExporterBase<T> {
  readonly #failures: FailureLog;

  constructor(delegate: ConstructorParameters<typeof OTLPExporterBase<T>>[0], failures: FailureLog) {
    super(delegate);
    this.#failures = failures;
  }

  override export(items: T, onResult: (result: ExportResult) => void): void {
    super.export(items, (result) => {
      if (result.code !== ExportResultCode.SUCCESS) this.#failures.report(result.error);
      onResult(result);
    });
  }
}

export const spanExporter = (receiver: OtlpReceiver, failures: FailureLog): SpanExporter =>
  new ReportingExporter<ReadableSpan[]>(
    createOtlpHttpExportDelegate(
      optionsFor(receiver),
      ProtobufTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    ),
    failures,
  );

export const logExporter = (receiver: OtlpReceiver, failures: FailureLog): LogRecordExporter =>
  new ReportingExporter<ReadableLogRecord[]>(
    createOtlpHttpExportDelegate(
      optionsFor(receiver),
      ProtobufLogsSerializer,
      'otlp_http_log_exporter',
      LogsExporterMetricsHelper,
      undefined,
    ),
    failures,
  );

class MetricExporter extends ReportingExporter<ResourceMetrics> implements PushMetricExporter {
  selectAggregationTemporality(): AggregationTemporality {
    return AggregationTemporality.CUMULATIVE;
  }
}

export const metricExporter = (receiver: OtlpReceiver, failures: FailureLog): PushMetricExporter =>
  new MetricExporter(
    createOtlpHttpExportDelegate(
      optionsFor(receiver),
      ProtobufMetricsSerializer,
      'otlp_http_metric_exporter',
      MetricsExporterMetricsHelper,
      undefined,
    ),
    failures,
  );
