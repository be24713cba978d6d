import { describe, expect, it } from 'vitest';
import { resolveSettings } from './settings.ts';

const machine = { cores: 4, terminal: false };
const read = (env: Record<string, string>, fileEnv: Record<string, string> = {}) =>
  resolveSettings({
    env,
    cwd: '/work',
    machine,
    file: { name: 'svc.json', dir: '/project', settings: {}, env: fileEnv },
  });

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const nothing = { spans: undefined, metrics: undefined, logs: undefined };
const svc = { 'service.name': 'svc' };
const all = { name: 'parentbased_always_on', ratio: 1 };

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

  it('has the headers of all telemetry and those of its kind, which are secrets', () => {
    const { telemetry } = read({
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
    expect(JSON.stringify(telemetry)).not.toContain('abc');
  });

  it('has a service name from its variable, before that of the resource attributes', () => {
    const attributes = { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,team=x%2Cy' };
    expect(read(attributes).telemetry.resource).toEqual({ 'service.name': 'a', team: 'x,y' });
    const named = { ...attributes, OTEL_SERVICE_NAME: 'b' };
    expect(read(named).telemetry.resource).toEqual({ 'service.name': 'b', team: 'x,y' });
  });

  it('does not follow the variables in `env` of svc.json, which are for graphs', () => {
    expect(read({}, endpoint).telemetry.spans).toBeUndefined();
  });

  it.each<[string, string, RegExp, object]>([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector', /is not an http\(s\) URL/, nothing],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317', /is not an http\(s\) URL/, nothing],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://me:key@collector', /Credentials .*OTLP_HEADERS/, nothing],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'http://collector?key=a', /is not an http/, { spans: undefined }],
    ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json', /does not send metrics/, { metrics: undefined }],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'abc', /is not a list of headers/, nothing],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0ab', /is not a list of headers/, nothing],
    ['OTEL_TRACES_EXPORTER', 'zipkin', /is neither otlp nor none/, { spans: undefined }],
    ['OTEL_LOGS_EXPORTER', 'console', /is neither otlp nor none/, { logs: undefined }],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team', /is not a list of key=value pairs/, { resource: svc }],
    ['OTEL_RESOURCE_ATTRIBUTES', 'team=%', /is not a list of key=value pairs/, { resource: svc }],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /is not one of always_on/, { sampler: all }],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', /is not a number from 0 to 1/, { sampler: all }],
  ])('warns of %s=%s, which may be meant for graphs', (name, value, warning, expected) => {
    const { telemetry } = read({ ...endpoint, [name]: value });
    expect(telemetry.warnings).toEqual([expect.stringMatching(warning)]);
    expect(telemetry.warnings[0]).toMatch(new RegExp(`^${name} `));
    expect(telemetry).toMatchObject(expected);
  });

  it('is not sent by another protocol, which graphs may use', () => {
    const { telemetry } = read({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
    expect(telemetry).toMatchObject(nothing);
    expect(telemetry.warnings).toEqual([
      expect.stringMatching(/^OTEL_EXPORTER_OTLP_PROTOCOL .* does not send traces\. .* port 4318/),
      expect.stringMatching(/^OTEL_EXPORTER_OTLP_PROTOCOL .* does not send metrics\. /),
    ]);
  });

  it('warns of no variable while it is sent nowhere', () => {
    const { telemetry } = read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'xray' });
    expect(telemetry.warnings).toEqual([]);
  });
});
