// Settings of the telemetry that the server sends about itself. They are the standard variables of OpenTelemetry. The same name after SVC_
// sets the variable for the server only, because graphs may use OpenTelemetry themselves and get the environment of the server.
import { headerList, keyValueList, otlpProtocol, otlpUrl, ratio } from './otel-setting-types.ts';
import { setting, type SettingDefinition } from './setting-definition.ts';
import { integer, oneOf, text } from './setting-type.ts';

type Definition<T> = Omit<SettingDefinition<T>, 'variable' | 'aliases'>;

const standard = <T>(name: `OTEL_${string}`, definition: Definition<T>): SettingDefinition<T> =>
  setting({ variable: `SVC_${name}`, aliases: [{ name, isForGraphsToo: true }], ...definition });

const none = { default: undefined, defaultDoc: 'none' } as const;
const general = (name: string) => ({ default: undefined, defaultDoc: `that of \`${name}\`` }) as const;

const day = 86_400_000;

export const otelSettings = {
  otelDisabled: standard('OTEL_SDK_DISABLED', {
    type: oneOf(['true', 'false']),
    default: 'false',
    doc: 'Send no [telemetry of the server](monitoring.md#opentelemetry).',
  }),
  otlpEndpoint: standard('OTEL_EXPORTER_OTLP_ENDPOINT', {
    type: otlpUrl(),
    default: undefined,
    defaultDoc: 'none: nothing is sent',
    doc: 'Receiver of the telemetry of the server, before `/v1/traces`, `/v1/metrics` and `/v1/logs`: `http://collector:4318`.',
  }),
  otlpTracesEndpoint: standard('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', {
    type: otlpUrl(),
    ...general('…_OTLP_ENDPOINT'),
    doc: 'Receiver of spans, with its whole path.',
  }),
  otlpMetricsEndpoint: standard('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', {
    type: otlpUrl(),
    ...general('…_OTLP_ENDPOINT'),
    doc: 'Receiver of metrics, with its whole path.',
  }),
  otlpLogsEndpoint: standard('OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', {
    type: otlpUrl(),
    ...general('…_OTLP_ENDPOINT'),
    doc: 'Receiver of the log, with its whole path.',
  }),
  otlpHeaders: standard('OTEL_EXPORTER_OTLP_HEADERS', {
    type: headerList(),
    ...none,
    doc: 'Request headers for the receiver: `x-api-key=abc,x-tenant=one`, values percent-encoded.',
  }),
  otlpTracesHeaders: standard('OTEL_EXPORTER_OTLP_TRACES_HEADERS', {
    type: headerList(),
    ...none,
    doc: 'Further headers for the receiver of spans.',
  }),
  otlpMetricsHeaders: standard('OTEL_EXPORTER_OTLP_METRICS_HEADERS', {
    type: headerList(),
    ...none,
    doc: 'Further headers for the receiver of metrics.',
  }),
  otlpLogsHeaders: standard('OTEL_EXPORTER_OTLP_LOGS_HEADERS', {
    type: headerList(),
    ...none,
    doc: 'Further headers for the receiver of the log.',
  }),
  otlpProtocol: standard('OTEL_EXPORTER_OTLP_PROTOCOL', {
    type: otlpProtocol(),
    default: 'http/protobuf',
    doc: 'Protocol of the receiver. A start with another protocol is refused.',
  }),
  otlpTracesProtocol: standard('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', {
    type: otlpProtocol(),
    ...general('…_OTLP_PROTOCOL'),
    doc: 'Protocol of the receiver of spans.',
  }),
  otlpMetricsProtocol: standard('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', {
    type: otlpProtocol(),
    ...general('…_OTLP_PROTOCOL'),
    doc: 'Protocol of the receiver of metrics.',
  }),
  otlpLogsProtocol: standard('OTEL_EXPORTER_OTLP_LOGS_PROTOCOL', {
    type: otlpProtocol(),
    ...general('…_OTLP_PROTOCOL'),
    doc: 'Protocol of the receiver of the log.',
  }),
  otelTracesExporter: standard('OTEL_TRACES_EXPORTER', {
    type: oneOf(['otlp', 'none']),
    default: 'otlp',
    doc: '`none`: send no spans.',
  }),
  otelMetricsExporter: standard('OTEL_METRICS_EXPORTER', {
    type: oneOf(['otlp', 'none']),
    default: 'otlp',
    doc: '`none`: send no metrics.',
  }),
  otelLogsExporter: standard('OTEL_LOGS_EXPORTER', {
    type: oneOf(['otlp', 'none']),
    default: undefined,
    defaultDoc: '`otlp` with `…_OTLP_LOGS_ENDPOINT`, else `none`',
    doc: '`otlp`: send the log too. It is written to standard error in any case.',
  }),
  otelServiceName: standard('OTEL_SERVICE_NAME', {
    type: text('name'),
    default: undefined,
    defaultDoc: '`service.name` of the resource attributes, else `svc`',
    doc: 'Name of the server in its telemetry.',
  }),
  otelResourceAttributes: standard('OTEL_RESOURCE_ATTRIBUTES', {
    type: keyValueList(),
    ...none,
    doc: 'Attributes of all telemetry of the server: `deployment.environment.name=production`.',
  }),
  otelTracesSampler: standard('OTEL_TRACES_SAMPLER', {
    type: oneOf([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ]),
    default: 'parentbased_always_on',
    doc: 'Which spans are sent.',
  }),
  otelTracesSamplerArg: standard('OTEL_TRACES_SAMPLER_ARG', {
    type: ratio(),
    default: '1',
    doc: 'The ratio of the samplers `traceidratio` and `parentbased_traceidratio`.',
  }),
  otelSpanDelay: standard('OTEL_BSP_SCHEDULE_DELAY', {
    type: integer({ min: 1, max: day }),
    default: '5000',
    doc: 'Milliseconds between two batches of spans.',
  }),
  otelMetricInterval: standard('OTEL_METRIC_EXPORT_INTERVAL', {
    type: integer({ min: 1, max: day }),
    default: '60000',
    doc: 'Milliseconds between two exports of the metrics.',
  }),
  otelLogDelay: standard('OTEL_BLRP_SCHEDULE_DELAY', {
    type: integer({ min: 1, max: day }),
    default: '1000',
    doc: 'Milliseconds between two batches of log records.',
  }),
};

export type OtelSettingKey = keyof typeof otelSettings;

export const otelSettingKeys = Object.keys(otelSettings) as OtelSettingKey[];

/** Nothing is sent while none of them has a value. */
export const receiverKeys = [
  'otlpEndpoint',
  'otlpTracesEndpoint',
  'otlpMetricsEndpoint',
  'otlpLogsEndpoint',
] as const;
