// Types of the settings that OpenTelemetry defines: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
import { Secret } from './secret.ts';
import type { SettingType } from './setting-type.ts';

/** The address of a receiver of OTLP. */
export function otlpUrl(): SettingType<string> {
  const remedy = 'Write scheme, host, port and path only: http://collector:4318.';
  return {
    name: 'URL',
    secret: false,
    parse: (given) => {
      if (!URL.canParse(given)) return { problem: 'is not a URL', remedy };
      const url = new URL(given);
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        return { problem: 'is not a URL of HTTP', remedy };
      // The value appears in the output of `svc config`.
      if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
        return {
          problem: 'has a user, a password, a query or a fragment',
          remedy: `${remedy} Credentials belong in SVC_OTEL_EXPORTER_OTLP_HEADERS.`,
        };
      return { value: url.href.replace(/\/+$/, '') };
    },
    format: (value) => value,
  };
}

/** The only protocol that the server sends. */
export function otlpProtocol(): SettingType<'http/protobuf'> {
  return {
    name: 'http/protobuf',
    secret: false,
    parse: (given) =>
      given.toLowerCase() === 'http/protobuf'
        ? { value: 'http/protobuf' }
        : {
            problem: 'is not a protocol that the server supports for its own telemetry',
            remedy:
              'Set SVC_OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, and SVC_OTEL_EXPORTER_OTLP_ENDPOINT to the port of the collector for OTLP over HTTP, usually 4318; or SVC_OTEL_SDK_DISABLED=true. Graphs do not read variables that begin with SVC_.',
          },
    format: (value) => value,
  };
}

/** A number from 0 to 1. */
export function ratio(): SettingType<number> {
  return {
    name: 'number',
    secret: false,
    parse: (given) => {
      const value = Number(given);
      return given.trim() !== '' && value >= 0 && value <= 1
        ? { value }
        : { problem: 'is not a ratio', remedy: 'Give a number from 0 to 1, such as 0.25.' };
    },
    format: String,
  };
}

/** `key=value` pairs, separated by commas. Values are percent-encoded. */
export function keyValueList(): SettingType<Readonly<Record<string, string>>> {
  return {
    name: 'key=value list',
    secret: false,
    parse: (given) => {
      const pairs = parsePairs(given);
      return pairs
        ? { value: Object.fromEntries(pairs) }
        : {
            problem: 'is not a list of key=value pairs',
            remedy:
              'Separate pairs by commas, and percent-encode commas in values: deployment.environment.name=production,team=a%2Cb.',
          };
    },
    format: (pairs) =>
      Object.entries(pairs)
        .map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
        .join(','),
  };
}

/** Request headers, in the form of `keyValueList`. */
export function headerList(): SettingType<Readonly<Record<string, Secret>>> {
  return {
    name: 'secrets',
    secret: true,
    parse: (given) => {
      const pairs = parsePairs(given);
      const areHeaders = pairs?.every(
        ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value),
      );
      return pairs && areHeaders === true
        ? { value: Object.fromEntries(pairs.map(([name, value]) => [name, new Secret(value)])) }
        : {
            problem: 'is not a list of headers',
            remedy: 'Write name=value, separated by commas, and percent-encode the values: x-api-key=abc%3D.',
          };
    },
    format: (headers) =>
      Object.entries(headers)
        .map(([name, value]) => `${name}=${String(value)}`)
        .join(','),
  };
}

function parsePairs(text: string): [string, string][] | undefined {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  const pairs = entries.map((entry) => parsePair(entry));
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

function parsePair(entry: string): [string, string] | undefined {
  const at = entry.indexOf('=');
  const key = entry.slice(0, Math.max(at, 0)).trim();
  if (key === '') return undefined;
  try {
    return [key, decodeURIComponent(entry.slice(at + 1).trim())];
  } catch {
    // A percent sign that begins no encoded character.
    return undefined;
  }
}
