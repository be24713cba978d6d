import { describe, expect, it } from 'vitest';
import { ConfigError } from '../project/mistake.ts';
import { resolveSettings } from './settings.ts';

const machine = { cores: 4, terminal: false };
const read = (env: Record<string, string>, fileEnv: Record<string, string> = {}) =>
  resolveSettings({
    env,
    cwd: '/work',
    machine,
    file: { name: 'svc.json', dir: '/project', settings: {}, env: fileEnv },
  });

const mistakesOf = (env: Record<string, string>): string[] => {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.mistakes.map(({ where, problem, remedy }) => `${where} ${problem}. ${remedy}`);
    throw error;
  }
  return [];
};

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('the telemetry of the server', () => {
  it('is sent nowhere without an endpoint', () => {
    const { telemetry } = read({ OTEL_SERVICE_NAME: 'agents', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' });
    expect(telemetry).toMatchObject({ spans: undefined, metrics: undefined, logs: undefined });
  });

  it('goes to the paths of OTLP below the endpoint, which may end with a slash', () => {
    const { telemetry } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example.com/base/' });
    expect(telemetry).toMatchObject({
      spans: { url: 'https://otlp.example.com/base/v1/traces' },
      metrics: { url: 'https://otlp.example.com/base/v1/metrics' },
      resource: { 'service.name': 'svc' },
      sampler: { name: 'parentbased_always_on', ratio: 1 },
    });
  });

  it('goes to an endpoint of spans alone', () => {
    const { telemetry } = read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/spans' });
    expect(telemetry).toMatchObject({
      spans: { url: 'http://collector:4318/spans' },
      metrics: undefined,
    });
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    ['is not sent with an endpoint alone', endpoint, undefined],
    [
      'is sent to the endpoint when its exporter is chosen',
      { ...endpoint, OTEL_LOGS_EXPORTER: 'otlp' },
      'http://collector:4318/v1/logs',
    ],
    [
      'is sent to an endpoint of its own',
      { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://collector:4318/log' },
      'http://collector:4318/log',
    ],
    [
      'is not sent to an endpoint of its own when its exporter is turned off',
      { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://collector:4318/log', OTEL_LOGS_EXPORTER: 'none' },
      undefined,
    ],
    [
      'is not sent when all telemetry is turned off',
      { ...endpoint, OTEL_LOGS_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' },
      undefined,
    ],
  ])('has a log that %s', (_, env, url) => {
    expect(read(env).telemetry.logs?.url).toBe(url);
  });

  it.each([
    ['all', { OTEL_SDK_DISABLED: 'TRUE' }, { spans: undefined, metrics: undefined }],
    ['metrics', { OTEL_METRICS_EXPORTER: 'none' }, { spans: expect.anything(), metrics: undefined }],
    ['spans', { OTEL_TRACES_EXPORTER: 'none' }, { spans: undefined, metrics: expect.anything() }],
  ])('can be turned off: %s', (_, env, expected) => {
    expect(read({ ...endpoint, ...env }).telemetry).toMatchObject(expected);
  });

  it('has the headers of all telemetry and those of its kind, which the settings do not show', () => {
    const { telemetry, origins } = read({
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-tenant=one',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-tenant=two',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'x-tenant=three',
    });
    const headersOf = (part: 'spans' | 'metrics' | 'logs') =>
      Object.entries(telemetry[part]?.headers ?? {}).map(([name, value]) => [name, value.reveal()]);
    expect(headersOf('spans')).toEqual([
      ['authorization', 'Bearer abc'],
      ['x-tenant', 'one'],
    ]);
    expect(headersOf('metrics')).toEqual([
      ['authorization', 'Bearer abc'],
      ['x-tenant', 'two'],
    ]);
    expect(headersOf('logs')).toEqual([
      ['authorization', 'Bearer abc'],
      ['x-tenant', 'three'],
    ]);
    expect(origins.otlpHeaders).toEqual({
      shown: 'authorization=[redacted],x-tenant=[redacted]',
      origin: 'OTEL_EXPORTER_OTLP_HEADERS',
    });
  });

  it('has a service name from its variable, before that of the resource attributes', () => {
    const attributes = { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,team=x%2Cy' };
    expect(read(attributes).telemetry.resource).toEqual({ 'service.name': 'a', team: 'x,y' });
    const named = { ...attributes, OTEL_SERVICE_NAME: 'b' };
    expect(read(named).telemetry.resource).toEqual({ 'service.name': 'b', team: 'x,y' });
  });

  it('has settings of its own beside those that graphs use too', () => {
    const shared = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_SERVICE_NAME: 'graphs',
    };
    const own = {
      SVC_OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      SVC_OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      SVC_OTEL_SERVICE_NAME: 'server',
    };
    expect(read({ ...shared, ...own }).telemetry).toMatchObject({
      spans: { url: 'http://collector:4318/v1/traces' },
      resource: { 'service.name': 'server' },
    });
    expect(mistakesOf({ ...shared, SVC_OTEL_SDK_DISABLED: 'true' })).toEqual([]);
  });

  it('does not follow the standard variables in `env` of svc.json, which are for graphs', () => {
    expect(read({}, endpoint).telemetry.spans).toBeUndefined();
    const own = { SVC_OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
    expect(read({}, own).telemetry.spans).toBeDefined();
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector', /is not a URL\. Write scheme, host, port and path/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', /is not a URL of HTTP/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://me:key@collector', /has a user, .*OTLP_HEADERS/],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://collector?key=a', /has a user, a password, a query/],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /is not a protocol that the server supports.*usually 4318/],
    ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json', /is not a protocol that the server supports/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'abc', /is not a list of headers/],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0ab', /is not a list of headers/],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team', /is not a list of key=value pairs/],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team=%', /is not a list of key=value pairs/],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /is not one of the choices. Choose one of: always_on/],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', /is not a ratio. Give a number from 0 to 1/],
    ['OTEL_TRACES_EXPORTER', 'zipkin', /is not one of the choices. Choose one of: otlp, none/],
    ['OTEL_METRIC_EXPORT_INTERVAL', '0', /is out of range/],
    ['OTEL_LOGS_EXPORTER', 'console', /is not one of the choices. Choose one of: otlp, none/],
    ['OTEL_EXPORTER_OTLP_LOGS_PROTOCOL', 'grpc', /is not a protocol that the server supports/],
  ])('is refused with the mistake in %s=%s', (name, value, message) => {
    expect(mistakesOf({ ...endpoint, [name]: value })).toEqual([expect.stringMatching(message)]);
    expect(mistakesOf({ ...endpoint, [name]: value })[0]).toMatch(new RegExp(`^${name} `));
  });

  it('is refused no mistake in a variable while it is sent nowhere', () => {
    expect(mistakesOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'xray' })).toEqual([]);
  });
});
