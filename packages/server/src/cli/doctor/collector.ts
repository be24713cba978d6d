// The receivers of the telemetry of the server, which are mostly one collector of OpenTelemetry.
import type { OtlpReceiver, TelemetrySettings } from '../../config/settings/telemetry-settings.ts';
import type { ProbeResult } from '../../telemetry/receiver-probe.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

interface Signal {
  /** As in a sentence. */
  name: string;
  /** As in the names of its variables. */
  variable: 'TRACES' | 'METRICS' | 'LOGS';
  receiver: OtlpReceiver;
}

/** Everything that the settings send. */
export const sentSignals = ({ spans, metrics, logs }: TelemetrySettings): Signal[] =>
  [
    { name: 'Spans', variable: 'TRACES' as const, receiver: spans },
    { name: 'Metrics', variable: 'METRICS' as const, receiver: metrics },
    { name: 'The log', variable: 'LOGS' as const, receiver: logs },
  ].filter((signal): signal is Signal => signal.receiver !== undefined);

export const collectorOutcome = (
  { name, variable, receiver: { url } }: Signal,
  result: ProbeResult,
): Outcome => {
  const target = `${name} cannot be sent to ${url}:`;
  if (result.kind === 'failed') return failureOutcome(target, result, url);
  const { status, type, text, location } = result;
  const response = `${status}${text === '' ? '' : ` (${text})`}`;
  if (status < 300)
    return isOtlp(result)
      ? ok(`${name} can be sent to ${url}.`)
      : problem(
          `${target} the response is ${type === '' ? 'of no type' : type}, so it is not from a receiver of OTLP.`,
          'Check host, port and path. A collector accepts OTLP over HTTP at port 4318 by default.',
        );
  if (status < 400)
    return problem(
      `${target} the receiver redirects with ${status}${location === undefined ? '' : ` to ${location}`}, and the server follows no redirect.`,
      `Set OTEL_EXPORTER_OTLP_ENDPOINT, or OTEL_EXPORTER_OTLP_${variable}_ENDPOINT with its whole path, to the address where it leads.`,
    );
  if (status === 400)
    return warning(
      `${name}: ${url} rejects a request without records with ${response}. It may accept others.`,
      'Look for "failed to send" in the log of the server, and for the reason in the log of the receiver.',
    );
  return problem(`${target} the receiver responds with ${response}.`, remedyOf(status, variable));
};

const isOtlp = ({ type, text }: { type: string; text: string }): boolean =>
  ['application/x-protobuf', 'application/json'].includes(type) || (type === '' && text === '');

const remedyOf = (status: number, variable: Signal['variable']): string => {
  switch (status) {
    case 401:
    case 403:
      return `Put the credentials of the receiver into OTEL_EXPORTER_OTLP_HEADERS, or OTEL_EXPORTER_OTLP_${variable}_HEADERS.`;
    case 404:
    case 405:
      return `Give the receiver a pipeline of ${variable.toLowerCase()} that accepts OTLP over HTTP, correct the path (OTEL_EXPORTER_OTLP_ENDPOINT ends before /v1/…, OTEL_EXPORTER_OTLP_${variable}_ENDPOINT is the whole path), or set OTEL_${variable}_EXPORTER=none.`;
    case 415:
      return 'The server sends http/protobuf with gzip: configure the receiver to accept it, or put a collector before it.';
    case 429:
    case 502:
    case 503:
    case 504:
      return 'The receiver, or what is behind it, is overloaded or not running: look at its log.';
    default:
      return 'Look at the log of the receiver.';
  }
};

const unknownHosts = new Set<unknown>(['ENOTFOUND', 'EAI_AGAIN']);
const timeouts = new Set<unknown>(['TimeoutError', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const noTls = new Set<unknown>(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

const failureOutcome = (
  target: string,
  { code, message }: { code: string | undefined; message: string },
  url: string,
): Outcome => {
  if (code === 'ECONNREFUSED')
    return problem(
      `${target} nothing listens there.`,
      'Start the collector, or correct host and port. A collector accepts OTLP over HTTP at port 4318 by default.',
    );
  if (unknownHosts.has(code))
    return problem(
      `${target} the host name is not known (${message}).`,
      'Correct the host name of the endpoint.',
    );
  if (timeouts.has(code))
    return problem(
      `${target} the receiver did not respond in time.`,
      'Check host and port, firewalls, and whether the receiver is overloaded.',
    );
  if (noTls.has(code))
    return problem(
      `${target} the receiver does not use TLS (${message}).`,
      'Write http:// in the endpoint, or configure TLS at the receiver.',
    );
  if (/CERT|SIGNATURE|ISSUER/.test(code ?? ''))
    return problem(
      `${target} its certificate is not valid here (${message}).`,
      'Name the certificate of its authority in NODE_EXTRA_CA_CERTS, for the server too, or correct the host name.',
    );
  // Node reports a response of HTTP/2, which gRPC uses, as an error of the parser or as a closed connection.
  if (/^HTTPParserError$|^HPE_|^UND_ERR_SOCKET$|^ECONNRESET$/.test(code ?? ''))
    return problem(
      `${target} the receiver does not respond with HTTP/1.1 (${message}).`,
      new URL(url).port === '4317'
        ? 'Port 4317 is for gRPC, which the server does not send: use the port for OTLP over HTTP, 4318 by default.'
        : 'Check that the port is for OTLP over HTTP, not for gRPC or TLS. The default of a collector is 4318.',
    );
  return problem(`${target} ${message}.`, 'Check the endpoint and the network.');
};
