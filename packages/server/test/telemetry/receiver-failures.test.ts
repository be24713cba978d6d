// A receiver that is down, and settings with which nothing is sent.
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { startReceiver } from './otlp-receiver.ts';
import { expectSilence, quietSettings } from './quiet-server.ts';

const input = { messages: [{ role: 'user', content: 'x' }] };

it.each(quietSettings)('nothing is sent about requests %s', async (_, settings) => {
  await expectSilence(settings, 'none', async (server) => {
    expect((await server.call('POST', '/threads', {})).status).toBe(200);
    expect((await server.call('GET', '/metrics')).status).toBe(200);
  });
});

it('a server sends the last spans and metrics when it stops', async () => {
  await using receiver = await startReceiver();
  {
    await using server = await startTestServer({ settings: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
    await server.call('POST', '/runs/wait', { assistant_id: 'chat', input });
    expect(receiver.requests).toEqual([]);
  }
  expect(receiver.spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['POST /runs/wait', 'run chat']),
  );
  expect(receiver.metrics.has('svc_runs_ended_total')).toBe(true);
});

it('a server works while nothing listens at the receiver, and logs that once', async () => {
  const { url } = await stoppedReceiver();
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const failures = () => lines.filter(({ msg }) => msg === 'failed to send metrics');
  {
    await using server = await startTestServer({
      settings: { OTEL_EXPORTER_OTLP_ENDPOINT: url, spanDelayMs: 1, metricIntervalMs: 10 },
      logger,
    });
    await eventually(() => expect(failures()).toHaveLength(1));
    expect((await server.call('POST', '/runs/wait', { assistant_id: 'chat', input })).status).toBe(200);
  }
  expect(failures()).toEqual([
    expect.objectContaining({ level: 40, url: `${url}/v1/metrics`, failures: 1, error: expect.any(String) }),
  ]);
});

const stoppedReceiver = async (): Promise<{ url: string }> => {
  await using receiver = await startReceiver();
  return { url: receiver.url };
};

it('a receiver that does not answer keeps no server from stopping', async () => {
  await using receiver = await startReceiver({ silent: true });
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    spanDelayMs: 1,
    OTEL_METRICS_EXPORTER: 'none',
  };
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  {
    await using server = await startTestServer({ settings, logger, executors: 'none' });
    expect((await server.call('GET', '/info')).status).toBe(200);
    await eventually(() => expect(receiver.waiting()).toBe(1));
    expect((await server.call('GET', '/info')).status).toBe(200);
  }
  // The server has stopped before its requests were over.
  expect(receiver.waiting()).toBeGreaterThan(0);
  expect(lines).toContainEqual(expect.stringContaining('could not be sent in time'));
});
