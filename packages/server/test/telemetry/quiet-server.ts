// Settings with which a server sends nothing.
import { expect } from 'vitest';
import { startTestServer, type TestExecutors, type TestServer } from '../server.ts';
import { startReceiver } from './otlp-receiver.ts';

export const quietSettings: [name: string, settings: Record<string, string>][] = [
  ['without a receiver', {}],
  ['when OpenTelemetry is disabled', { otelDisabled: 'true' }],
  ['when no exporter is chosen', { otelTracesExporter: 'none', otelMetricsExporter: 'none' }],
];

/** Expects that a server with the settings has sent nothing when it has stopped after the use. */
export const expectSilence = async (
  settings: Record<string, string>,
  executors: TestExecutors,
  use: (server: TestServer) => Promise<void>,
): Promise<void> => {
  await using receiver = await startReceiver();
  const target = Object.keys(settings).length === 0 ? {} : { otlpEndpoint: receiver.url };
  {
    await using server = await startTestServer({
      settings: { ...target, ...settings, otelSpanDelay: '1', otelMetricInterval: '10' },
      executors,
    });
    await use(server);
  }
  expect(receiver.requests).toEqual([]);
};
