// The telemetry that the server sends about itself, from the values of its settings.
import { otelSettingKeys, type otelSettings, receiverKeys } from './otel-settings.ts';
import type { Secret } from './secret.ts';
import type { SettingDefinition } from './setting-definition.ts';

type OtelValue<K extends keyof typeof otelSettings> =
  (typeof otelSettings)[K] extends SettingDefinition<infer T> ? T : never;

/** A value is undefined when it is not set and has no default. */
type OtelValues = { readonly [K in keyof typeof otelSettings]: OtelValue<K> | undefined };

/** Where the server sends spans, metrics or its log. */
export interface OtlpReceiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
}

export interface TelemetrySettings {
  /** Undefined: no spans are created. */
  readonly spans: OtlpReceiver | undefined;
  /** Undefined: no metrics are sent. */
  readonly metrics: OtlpReceiver | undefined;
  /** Undefined: the log is not sent. */
  readonly logs: OtlpReceiver | undefined;
  /** Attributes of the server, with `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: { readonly name: OtelValue<'otelTracesSampler'>; readonly ratio: number };
  readonly spanDelayMs: number;
  readonly metricIntervalMs: number;
  readonly logDelayMs: number;
}

/**
 * Removes the mistakes in these settings when nothing is to be sent: the standard variables may be those of graphs, which support more.
 */
export function withoutUnusedMistakes(values: OtelValues, mistakes: Map<string, unknown>): void {
  const isSent = receiverKeys.some((key) => values[key] !== undefined || mistakes.has(key));
  if (isSent && values.otelDisabled !== 'true') return;
  for (const key of otelSettingKeys) mistakes.delete(key);
}

export function telemetrySettings(values: OtelValues): TelemetrySettings {
  const { otlpEndpoint: base, otelServiceName: serviceName } = values;
  const receiver = (
    exporter: string | undefined,
    url: string | undefined,
    path: string,
    headers: OtlpReceiver['headers'] = {},
  ): OtlpReceiver | undefined => {
    const target = url ?? (base === undefined ? undefined : `${base}/${path}`);
    if (target === undefined || exporter === 'none' || values.otelDisabled === 'true') return undefined;
    return { url: target, headers: { ...values.otlpHeaders, ...headers } };
  };
  const { otelTracesExporter, otlpTracesEndpoint, otlpTracesHeaders } = values;
  const { otelMetricsExporter, otlpMetricsEndpoint, otlpMetricsHeaders } = values;
  const { otlpLogsEndpoint, otlpLogsHeaders } = values;
  // Not by the general endpoint alone: where the lines on standard error are collected already, each would exist twice.
  const logsExporter = values.otelLogsExporter ?? (otlpLogsEndpoint === undefined ? 'none' : 'otlp');
  return {
    spans: receiver(otelTracesExporter, otlpTracesEndpoint, 'v1/traces', otlpTracesHeaders),
    metrics: receiver(otelMetricsExporter, otlpMetricsEndpoint, 'v1/metrics', otlpMetricsHeaders),
    logs: receiver(logsExporter, otlpLogsEndpoint, 'v1/logs', otlpLogsHeaders),
    resource: {
      'service.name': 'svc',
      ...values.otelResourceAttributes,
      ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
    },
    sampler: {
      name: values.otelTracesSampler ?? 'parentbased_always_on',
      ratio: values.otelTracesSamplerArg ?? 1,
    },
    spanDelayMs: values.otelSpanDelay ?? 5_000,
    metricIntervalMs: values.otelMetricInterval ?? 60_000,
    logDelayMs: values.otelLogDelay ?? 1_000,
  };
}
