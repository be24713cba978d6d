import type { OtlpReceiver } from '../config/settings/telemetry-settings.ts';

/** The receiver may be a server that sends its spans too, or this one: without it, each request to it would be a span. */
const unsampled = '00-00000000000000000000000000000001-0000000000000001-00';

/** The headers of a request to a receiver, besides those of its encoding. */
export const otlpHeaders = ({ headers }: Pick<OtlpReceiver, 'headers'>): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(headers).map(([name, secret]) => [name, secret.reveal()])),
  'content-type': 'application/x-protobuf',
  traceparent: unsampled,
});
