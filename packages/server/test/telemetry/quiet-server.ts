// Settings with which a server sends nothing.
import { expect } from 'vitest';
import type { TestSettings } from '../settings.ts';
import { startTestServer, type TestExecutors, type TestServer } from '../server.ts';
import { startReceiver } from './otlp-receiver.ts';

export const quietSettings: [name: string, settings: TestSettings][] = [
  ['without a receiver', {}],
  ['when OpenTelemetry is disabled', { OTEL_SDK_DISABLED: 'true' }],
  ['when no exporter is chosen', { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
];

/** Expects that a server with the settings has sent nothing when it has stopped after the use. */
export const expectSilence = async (
  settings: TestSettings,
  executors: TestExecutors,
  use: (server: TestServer) => Promise<void>,
): Promise<void> => {
  await using receiver = await startReceiver();
  const target = Object.keys(settings).length === 0 ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  {
    await using server = await startTestServer({
      settings: { ...target, ...settings, spanDelayMs: 1, metricIntervalMs: 10 },
      executors,
    });
    await use(server);
  }
  expect(receiver.requests).toEqual([]);
};
