import { afterEach, expect, it, vi } from 'vitest';
import { executorEnvironment } from './environment.ts';

afterEach(() => void vi.unstubAllEnvs());

it('the environment of executors has no secrets of the server', () => {
  vi.stubEnv('SVC_STUDIO_KEY', 'secret');
  vi.stubEnv('DATABASE_URI', 'secret');
  expect(Object.values(executorEnvironment())).not.toContain('secret');
});

it('the environment of executors has the standard variables of OpenTelemetry, for the graphs', () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-api-key=abc');
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318');
  expect(executorEnvironment()).toMatchObject({
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=abc',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
  });
});
