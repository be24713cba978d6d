// The telemetry that the server sends about itself, from the standard variables of OpenTelemetry:
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
// They are not read by the SDK: it is loaded only when something is sent, reads the variables of graphs too, which are in the environment of
// the process by then, and replaces a wrong endpoint by a default. As the specification asks for, a mistake is a warning: the
// variables may be meant for graphs, which may use protocols and samplers that the server does not have.
import type { Limits } from './limits.ts';
import { Secret } from './secret.ts';

/** Where the server sends spans, metrics or its log. */
export interface OtlpReceiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
}

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface TelemetrySettings {
  /** Undefined: no spans are created. */
  readonly spans: OtlpReceiver | undefined;
  /** Undefined: no metrics are sent. */
  readonly metrics: OtlpReceiver | undefined;
  /** Undefined: the log is not sent. */
  readonly logs: OtlpReceiver | undefined;
  /** Attributes of the server, with `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: { readonly name: (typeof samplers)[number]; readonly ratio: number };
  readonly spanDelayMs: number;
  readonly metricIntervalMs: number;
  readonly logDelayMs: number;
  /** Mistakes in variables that have an effect. */
  readonly warnings: readonly string[];
}

const standardSampler: TelemetrySettings['sampler'] = { name: 'parentbased_always_on', ratio: 1 };

type Signal = 'TRACES' | 'METRICS' | 'LOGS';

export function telemetrySettings(env: Readonly<Record<string, string>>, limits: Limits): TelemetrySettings {
  const variables = new Variables(env);
  const spans = variables.receiver('TRACES');
  const metrics = variables.receiver('METRICS');
  const logs = variables.receiver('LOGS');
  const isSent = [spans, metrics, logs].some((receiver) => receiver !== undefined);
  const { spanDelayMs, metricIntervalMs, logDelayMs } = limits;
  return Object.freeze({
    spans,
    metrics,
    logs,
    resource: { 'service.name': 'svc', ...(isSent ? variables.resource() : {}) },
    sampler: spans ? variables.sampler() : standardSampler,
    spanDelayMs,
    metricIntervalMs,
    logDelayMs,
    warnings: [...variables.warnings],
  });
}

class Variables {
  readonly #env: Readonly<Record<string, string>>;
  /** A variable that several signals share has one. */
  readonly warnings = new Set<string>();

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** The first of these variables that is set, and its name. */
  #find(...names: string[]): [name: string, value: string] | undefined {
    for (const name of names) {
      const value = Object.hasOwn(this.#env, name) ? this.#env[name]?.trim() : undefined;
      if (value !== undefined && value !== '') return [name, value];
    }
    return undefined;
  }

  #warn(name: string, problem: string): undefined {
    this.warnings.add(`${name} ${problem}`);
  }

  receiver(signal: Signal): OtlpReceiver | undefined {
    if (this.#find('OTEL_SDK_DISABLED')?.[1].toLowerCase() === 'true') return undefined;
    const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
    const endpoint = this.#find(own, 'OTEL_EXPORTER_OTLP_ENDPOINT');
    if (endpoint === undefined) return undefined;
    const isOwn = endpoint[0] === own;
    // The log needs its own endpoint or exporter. Lines of standard error are often collected already, and each would exist twice.
    const exporter = this.#find(`OTEL_${signal}_EXPORTER`) ?? [
      '',
      signal === 'LOGS' && !isOwn ? 'none' : 'otlp',
    ];
    if (exporter[1].toLowerCase() === 'none') return undefined;
    if (exporter[1].toLowerCase() !== 'otlp')
      return this.#warn(exporter[0], 'is neither otlp nor none: the server does not send them.');
    const protocol = this.#find(`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL');
    if (protocol && protocol[1].toLowerCase() !== 'http/protobuf')
      return this.#warn(
        protocol[0],
        `is not http/protobuf, the only protocol of the server, so it does not send ${signal.toLowerCase()}. A collector receives http/protobuf at port 4318. Variables for graphs belong in "env" of svc.json.`,
      );
    const url = urlOf(endpoint[1]);
    if (url === undefined)
      return this.#warn(
        endpoint[0],
        'is not an http(s) URL of scheme, host, port and path only, so nothing is sent there. Credentials belong in OTEL_EXPORTER_OTLP_HEADERS.',
      );
    const headers = this.#headers('OTEL_EXPORTER_OTLP_HEADERS', `OTEL_EXPORTER_OTLP_${signal}_HEADERS`);
    return headers && { url: isOwn ? url : `${url}/v1/${signal.toLowerCase()}`, headers };
  }

  #headers(...names: string[]): OtlpReceiver['headers'] | undefined {
    const headers: Record<string, Secret> = {};
    for (const name of names) {
      const pairs = pairsOf(this.#find(name)?.[1] ?? '');
      if (!pairs?.every(([key, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(key) && /^[\x20-\x7e]*$/.test(value)))
        return this.#warn(
          name,
          'is not a list of headers, so nothing is sent with them. Write name=value, separated by commas, and percent-encode the values: x-api-key=abc%3D.',
        );
      for (const [key, value] of pairs) headers[key] = new Secret(value);
    }
    return headers;
  }

  resource(): Record<string, string> {
    const attributes = pairsOf(this.#find('OTEL_RESOURCE_ATTRIBUTES')?.[1] ?? '');
    if (!attributes)
      this.#warn(
        'OTEL_RESOURCE_ATTRIBUTES',
        'is not a list of key=value pairs and has no effect. Separate pairs by commas, and percent-encode commas in values: team=a%2Cb.',
      );
    const name = this.#find('OTEL_SERVICE_NAME')?.[1];
    return {
      ...Object.fromEntries(attributes ?? []),
      ...(name === undefined ? {} : { 'service.name': name }),
    };
  }

  sampler(): TelemetrySettings['sampler'] {
    const given = this.#find('OTEL_TRACES_SAMPLER')?.[1].toLowerCase();
    const name = samplers.find((sampler) => sampler === given);
    if (given !== undefined && name === undefined)
      this.#warn('OTEL_TRACES_SAMPLER', `is not one of ${samplers.join(', ')}: all spans are sent.`);
    const ratio = Number(this.#find('OTEL_TRACES_SAMPLER_ARG')?.[1] ?? 1);
    if (ratio >= 0 && ratio <= 1) return { name: name ?? 'parentbased_always_on', ratio };
    this.#warn('OTEL_TRACES_SAMPLER_ARG', 'is not a number from 0 to 1: all spans are sent.');
    return { name: name ?? 'parentbased_always_on', ratio: 1 };
  }
}

function urlOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, search, hash, href } = new URL(text);
  // The address is in the log.
  const isPlain = [username, password, search, hash].every((part) => part === '');
  return isPlain && /^https?:$/.test(protocol) ? href.replace(/\/+$/, '') : undefined;
}

/** `key=value` pairs, separated by commas. Values are percent-encoded. Undefined for another text. */
function pairsOf(text: string): [string, string][] | undefined {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  const pairs = entries.map((entry): [string, string] | undefined => {
    const at = entry.indexOf('=');
    const key = entry.slice(0, Math.max(at, 0)).trim();
    if (key === '') return undefined;
    try {
      return [key, decodeURIComponent(entry.slice(at + 1).trim())];
    } catch {
      // A percent sign that begins no encoded character.
      return undefined;
    }
  });
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}
