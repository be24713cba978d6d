// Metrics that a server sends by OTLP, as a receiver gets them.
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { metricsIn, metricsTextOf } from '../system/metrics-text.ts';
import { startReceiver } from './otlp-receiver.ts';

it('metrics that are sent are those of /metrics, with the same names, types, meanings and labels', async () => {
  await using receiver = await startReceiver();
  await using server = await startTestServer({
    settings: {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/collect/v1/metrics`,
      metricIntervalMs: 50,
    },
  });
  const input = { messages: [{ role: 'user', content: 'x' }] };
  await server.call('POST', '/runs/wait', { assistant_id: 'chat', input });
  await eventually(() =>
    expect(receiver.metrics.get('svc_runs_ended_total')?.points).toEqual([
      { attributes: { status: 'success' }, value: 1 },
    ]),
  );
  expect(receiver.requests[0]?.path).toBe('/collect/v1/metrics');
  const [run] = receiver.metrics.get('svc_run_seconds')?.points ?? [];
  const scraped = [...metricsIn(await metricsTextOf(server))];
  // Some metrics have their first value after the run.
  await eventually(() =>
    expect([...receiver.metrics.values()].map(({ name, type, help }) => ({ name, type, help }))).toEqual(
      expect.arrayContaining(scraped.map(([name, { type, help }]) => ({ name, type, help }))),
    ),
  );
  expect(run).toMatchObject({ attributes: { status: 'success' }, count: 1 });
  expect(run?.buckets?.reduce((sum, count) => sum + count, 0)).toBe(1);
  expect(run?.buckets).toHaveLength((run?.bounds?.length ?? 0) + 1);
  expect(run?.sum).toBeGreaterThan(0);
  // No spans: their receiver is not set.
  expect(receiver.spans).toEqual([]);
});
