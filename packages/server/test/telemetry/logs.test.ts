// The log of a server, as a receiver of OTLP gets it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestSettings } from '../settings.ts';
import { openLogExport } from '../../src/telemetry/log-export.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { testSettings } from '../settings.ts';
import { eventually } from '../eventually.ts';
import { createProjectFolder, type ProjectFolder, replying } from '../projects/project-folder.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { type OtlpReceiver, type ReceivedLog, startReceiver } from './otlp-receiver.ts';

const input = { messages: [{ role: 'user', content: 'x' }] };

const settingsFor = (receiver: { url: string }, more: TestSettings = {}): TestSettings => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_METRICS_EXPORTER: 'none',
  OTEL_TRACES_EXPORTER: 'none',
  OTEL_LOGS_EXPORTER: 'otlp',
  logDelayMs: 20,
  logLevel: 'info',
  ...more,
});

/** A log that keeps its lines. */
const keptLog = () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, logger: createLogger({ level: 'info', format: 'json' }, { write }) };
};

const received = (receiver: OtlpReceiver, is: (record: ReceivedLog) => boolean): Promise<ReceivedLog> =>
  eventually(() => {
    const found = receiver.logs.find(is);
    if (!found) throw new Error('the record has not arrived');
    return found;
  });

const severities: Record<string, [number, string]> = {
  30: [9, 'INFO'],
  40: [13, 'WARN'],
  50: [17, 'ERROR'],
};

describe('a server that sends its log', () => {
  let folder: ProjectFolder;
  let receiver: OtlpReceiver;
  let server: TestServer;
  const { lines, logger } = keptLog();
  const lineOf = (requestId: string) => lines.find(({ request_id }) => request_id === requestId);
  beforeAll(async () => {
    folder = createProjectFolder();
    folder.write({
      'package.json': { type: 'module' },
      'seen.ts': replying(
        'see()',
        `import { getLogger } from '@langchain/langgraph-sdk/logging';
const see = () => {
  getLogger().error('in a node', { tries: 2, ratio: 0.5, deep: { list: [true, 'a'] }, api_key: 'hunter2' });
  getLogger().warn(new Error('odd'));
  getLogger().info('span', { trace_id: 'ab'.repeat(16), span_id: 'cd'.repeat(8) });
  return 'seen';
};`,
      ),
      'svc.json': { graphs: { seen: './seen.ts:graph' } },
    });
    receiver = await startReceiver();
    const more = {
      OTEL_TRACES_EXPORTER: 'otlp',
      spanDelayMs: 20,
      OTEL_SERVICE_NAME: 'agents',
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'x-api-key=secret',
    };
    server = await startTestServer({
      settings: settingsFor(receiver, more),
      project: `${folder.dir}/svc.json`,
      logger,
    });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await receiver?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  it('sends the line of a request with its time, severity, text, fields and resource, and the ids of its span', async () => {
    await server.call('POST', '/threads', {}, { 'x-request-id': 'one' });
    const record = await received(receiver, ({ attributes }) => attributes['request_id'] === 'one');
    const { level, time, msg, trace_id, span_id, ...fields } = lineOf('one') ?? {};
    expect(record).toMatchObject({ timeMs: time, body: msg, traceId: trace_id, spanId: span_id });
    expect([record.severityNumber, record.severityText]).toEqual(severities[String(level)]);
    expect(record.attributes).toEqual(fields);
    expect(record.attributes).toMatchObject({ method: 'POST', route: '/threads', status: 200 });
    const span = await eventually(() => {
      const found = receiver.spans.find(({ name }) => name === 'POST /threads');
      if (!found) throw new Error('the span has not arrived');
      return found;
    });
    expect([record.traceId, record.spanId]).toEqual([span.trace_id, span.span_id]);
    expect(record.resource).toEqual(span.resource);
    expect(record.resource).toMatchObject({ 'service.name': 'agents' });
    const request = receiver.requests.find(({ path }) => path === '/v1/logs');
    expect(request?.headers).toMatchObject({ 'x-api-key': 'secret', 'content-encoding': 'gzip' });
  });

  it('sends what graphs log in executors, with secrets masked as in the printed log', async () => {
    const run = await server.call('POST', '/runs/wait', { assistant_id: 'seen', input });
    expect(run.status).toBe(200);
    const record = await received(receiver, ({ body }) => body === 'in a node');
    expect(record).toMatchObject({ severityNumber: 17, severityText: 'ERROR', traceId: '' });
    expect(record.attributes).toMatchObject({
      process: 'executor',
      langgraph_node: 'reply',
      run_id: expect.any(String),
      tries: 2,
      ratio: 0.5,
      deep: { list: [true, 'a'] },
      api_key: '[redacted]',
    });
    const odd = await received(receiver, ({ body }) => body === 'odd');
    expect(odd.attributes).toMatchObject({
      'exception.type': 'Error',
      'exception.message': 'odd',
      'exception.stacktrace': expect.stringContaining('seen.ts'),
    });
    expect(odd.attributes).not.toHaveProperty('err');
    const span = await received(receiver, ({ body }) => body === 'span');
    expect(span).toMatchObject({ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) });
    expect(span.attributes).not.toHaveProperty('trace_id');
    expect(JSON.stringify(receiver.logs)).not.toContain('hunter2');
  });

  it('sends nothing twice', async () => {
    await server.call('GET', '/info', undefined, { 'x-request-id': 'once' });
    await received(receiver, ({ attributes }) => attributes['request_id'] === 'once');
    await server.call('GET', '/info', undefined, { 'x-request-id': 'later' });
    await received(receiver, ({ attributes }) => attributes['request_id'] === 'later');
    const ids = receiver.logs.map(({ attributes }) => attributes['request_id']);
    expect(ids.filter((id) => id === 'once')).toHaveLength(1);
  });
});

it('a server with an endpoint, but without a setting for the log, sends no log', async () => {
  await using receiver = await startReceiver();
  const { OTEL_LOGS_EXPORTER: _, ...settings } = settingsFor(receiver, { OTEL_TRACES_EXPORTER: 'otlp' });
  {
    await using server = await startTestServer({ settings, logger: keptLog().logger, executors: 'none' });
    await server.call('GET', '/info');
  }
  expect(receiver.requests.map(({ path }) => path)).toEqual(['/v1/traces']);
});

it('a server sends the first lines and, when it stops, the last ones', async () => {
  await using receiver = await startReceiver();
  const { lines, logger } = keptLog();
  logger.warn('before the start');
  {
    await using server = await startTestServer({
      settings: settingsFor(receiver, { logDelayMs: 3_600_000 }),
      logger,
      executors: 'none',
    });
    await server.call('GET', '/info', undefined, { 'x-request-id': 'last' });
    expect(receiver.requests).toEqual([]);
  }
  expect(receiver.logs.map(({ body }) => body)).toEqual(lines.map(({ msg }) => msg));
  expect(receiver.logs[0]?.body).toBe('before the start');
  expect(receiver.logs.map(({ attributes }) => attributes['request_id'])).toContain('last');
});

it('a batch that the receiver cannot take now is sent again', async () => {
  let tries = 0;
  await using receiver = await startReceiver({ status: () => (++tries === 1 ? 503 : 200) });
  const { logger, lines } = keptLog();
  await using server = await startTestServer({ settings: settingsFor(receiver), logger, executors: 'none' });
  await server.call('GET', '/info', undefined, { 'x-request-id': 'retried' });
  await received(receiver, ({ attributes }) => attributes['request_id'] === 'retried');
  expect(tries).toBeGreaterThan(1);
  expect(lines.filter(({ msg }) => msg === 'failed to send log records')).toEqual([]);
});

it('a failure to send the log is counted, and is in the local log only', async () => {
  let status = 403;
  await using receiver = await startReceiver({ status: () => status });
  const { lines, logger } = keptLog();
  const failures = () => lines.filter(({ msg }) => msg === 'failed to send log records');
  await using server = await startTestServer({ settings: settingsFor(receiver), logger, executors: 'none' });
  await server.call('GET', '/info', undefined, { 'x-request-id': 'lost' });
  await eventually(() => expect(failures()).toHaveLength(1));
  expect(failures()[0]).toMatchObject({
    level: 40,
    url: `${receiver.url}/v1/logs`,
    error: 'Forbidden (403)',
  });
  await eventually(async () => {
    const { body } = await server.call('GET', '/metrics');
    expect(body).toMatch(/svc_log_records_lost_total\{reason="failed"\} [1-9]/);
    expect(body).toMatch(/svc_log_records_lost_total\{reason="dropped"\} 0/);
  });
  status = 200;
  await server.call('GET', '/info', undefined, { 'x-request-id': 'after' });
  await received(receiver, ({ attributes }) => attributes['request_id'] === 'after');
  expect(receiver.logs.map(({ body }) => body)).not.toContain('failed to send log records');
});

it('a receiver that does not answer keeps no server from answering or stopping', async () => {
  await using receiver = await startReceiver({ silent: true });
  const { lines, logger } = keptLog();
  {
    await using server = await startTestServer({
      settings: settingsFor(receiver),
      logger,
      executors: 'none',
    });
    await eventually(async () => {
      expect((await server.call('GET', '/info')).status).toBe(200);
      expect(receiver.waiting()).toBe(1);
    });
  }
  // The server has stopped before its request was over.
  expect(receiver.waiting()).toBeGreaterThan(0);
  expect(lines.at(-1)).toMatchObject({ msg: 'the last log records could not be sent in time' });
});

it.each([
  ['lines', 3_000, 10, 3_000 - 2_048],
  ['bytes', 200, 50_000, expect.any(Number)],
])('%s above the limit of those that wait are dropped and counted', async (_, count, size, dropped) => {
  await using receiver = await startReceiver({ silent: true });
  const { telemetry } = testSettings({ dataDir: '/nowhere', ...settingsFor(receiver) });
  const { lines, logger } = keptLog();
  await using sending = openLogExport(telemetry, { instanceId: 'a', logger });
  for (let index = 0; index < count; index++) logger.info({ index }, 'x'.repeat(size));
  const warnings = lines.filter(({ msg }) => msg === 'dropped log records');
  expect(warnings).toMatchObject([{ level: 40, failures: 1, error: 'too many wait to be sent' }]);
  expect(lines).toHaveLength(count + 1);
  expect(sending?.lost).toEqual({ dropped, failed: 0 });
  expect(sending?.lost.dropped).toBeGreaterThan(100);
  await eventually(() => expect(receiver.waiting()).toBe(1));
});
