// Spans that a server sends about its requests and runs, as a receiver of OTLP gets them.
import { createClient } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestSettings } from '../settings.ts';
import { startCustomServer } from '../custom-app/custom-server.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { type OtlpReceiver, type ReceivedSpan, startReceiver } from './otlp-receiver.ts';
import { testFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const kinds = { internal: 1, server: 2 };
const statuses = { unset: 0, error: 2 };

const settingsFor = (receiver: OtlpReceiver, more: TestSettings = {}): TestSettings => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_METRICS_EXPORTER: 'none',
  spanDelayMs: 20,
  ...more,
});

const runSpans = ({ spans }: OtlpReceiver): ReceivedSpan[] =>
  spans.filter(({ name }) => name.startsWith('run '));
const requestSpans = ({ spans }: OtlpReceiver): ReceivedSpan[] =>
  spans.filter(({ kind }) => kind === kinds.server);

/** The span of the request that created the run, and those of its attempts. */
const spansOfRun = async (receiver: OtlpReceiver, run_id: string, attempts = 1) =>
  eventually(() => {
    const isOfRun = ({ attributes }: ReceivedSpan): boolean => attributes['svc.run_id'] === run_id;
    const [request] = requestSpans(receiver).filter(isOfRun);
    const runs = runSpans(receiver).filter(isOfRun);
    if (request === undefined || runs.length < attempts) throw new Error('the spans have not arrived');
    return { request, runs };
  });

const receiver = fixture(() => startReceiver());
let server: TestServer;
beforeAll(async () => {
  const more = {
    OTEL_SERVICE_NAME: 'agents',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%20one,team=a',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=se%2Ccret',
  };
  server = await startTestServer({ settings: settingsFor(receiver, more) });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

describe('a request', () => {
  it('is a span with the pattern of its route and without the values of its URL', async () => {
    const { status } = await server.call(
      'GET',
      '/threads/5d3c7c6e-0d6d-4a5c-9a65-6a7d3f6b8c11?select=secret',
    );
    expect(status).toBeGreaterThanOrEqual(400);
    await server.call('POST', '/threads', { metadata: { color: 'secret' } });
    const created = await eventually(() => {
      const span = requestSpans(receiver).find(({ name }) => name === 'POST /threads');
      if (!span) throw new Error('the span has not arrived');
      return span;
    });
    expect(created).toMatchObject({
      kind: kinds.server,
      parent_span_id: '',
      status: { code: statuses.unset },
    });
    expect(created.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/threads',
      'http.response.status_code': 200,
    });
    expect(created.end).toBeGreaterThan(created.start);
    const found = requestSpans(receiver).find(({ name }) => name === 'GET /threads/:thread_id');
    expect(found?.attributes['http.response.status_code']).toBe(status);
    const sent = JSON.stringify(receiver.spans, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(sent).not.toMatch(/secret|5d3c7c6e/);
  });

  it('without a route is a span with its method', async () => {
    await server.call('DELETE', '/no-such-path/secret');
    await eventually(() => {
      const span = requestSpans(receiver).find(({ name }) => name === 'DELETE');
      expect(span?.attributes).toEqual({ 'http.request.method': 'DELETE', 'http.response.status_code': 404 });
    });
  });

  it('of a probe or a scraper is no span', async () => {
    for (const path of ['/ok', '/ready', '/metrics']) await server.call('GET', path);
    await server.call('GET', '/info');
    await eventually(() => expect(requestSpans(receiver).map(({ name }) => name)).toContain('GET /info'));
    expect(requestSpans(receiver).filter(({ name }) => /ok|ready|metrics/.test(name))).toEqual([]);
  });

  it('is a child of the span that its traceparent names', async () => {
    const trace_id = '0af7651916cd43dd8448eb211c80319c';
    const header = `00-${trace_id}-b7ad6b7169203331-01`;
    await server.call('GET', '/info', undefined, { traceparent: header, tracestate: 'vendor=1' });
    await eventually(() =>
      expect(requestSpans(receiver)).toContainEqual(
        expect.objectContaining({ trace_id, parent_span_id: 'b7ad6b7169203331', trace_state: 'vendor=1' }),
      ),
    );
  });

  it('with spans of another server is no span, so two servers may send their spans to each other', async () => {
    const [sent] = receiver.requests;
    const traceparent = String(sent?.headers['traceparent']);
    await server.call('GET', '/threads/of-sent', undefined, { traceparent });
    await server.call('GET', '/assistants/later');
    const names = () => requestSpans(receiver).map(({ name }) => name);
    await eventually(() => expect(names()).toContain('GET /assistants/:assistant_id'));
    expect(receiver.spans.map(({ trace_id }) => trace_id)).not.toContain(traceparent.split('-')[1]);
  });

  it('whose caller samples no spans is no span', async () => {
    const [unsampled, sampled] = ['1af7651916cd43dd8448eb211c80319c', '2af7651916cd43dd8448eb211c80319c'];
    for (const [id, flags] of [
      [unsampled, '00'],
      [sampled, '01'],
    ])
      await server.call('GET', '/info', undefined, { traceparent: `00-${id}-b7ad6b7169203331-${flags}` });
    await eventually(() => expect(receiver.spans.map(({ trace_id }) => trace_id)).toContain(sampled));
    expect(receiver.spans.map(({ trace_id }) => trace_id)).not.toContain(unsampled);
  });
});

describe('an attempt of a run', () => {
  const input = { messages: [{ role: 'user', content: 'secret' }] };

  it('is a span with a link to the request that created the run', async () => {
    const client = createClient({ apiUrl: server.url });
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'chat', { input });
    const { request, runs } = await spansOfRun(receiver, run.run_id);
    const [span] = runs;
    expect(span).toMatchObject({
      name: 'run chat',
      kind: kinds.internal,
      parent_span_id: '',
      status: { code: statuses.unset },
      links: [{ trace_id: request.trace_id, span_id: request.span_id }],
    });
    expect(span?.trace_id).not.toBe(request.trace_id);
    expect(span?.attributes).toEqual({
      'svc.run_id': run.run_id,
      'svc.thread_id': thread_id,
      'svc.assistant_id': run.assistant_id,
      'svc.graph_id': 'chat',
      'svc.attempt': 1,
      'svc.status': 'success',
      'svc.waiting_seconds': expect.any(Number),
    });
    expect(request.name).toBe('POST /threads/:thread_id/runs');
    expect(request.attributes).toMatchObject({ 'svc.run_id': run.run_id, 'svc.thread_id': thread_id });
  });

  it.each(['wait', 'stream'])('has the link when the request follows the run: %s', async (how) => {
    const response = await server.call('POST', `/runs/${how}`, { assistant_id: 'chat', input });
    const location = response.headers.get('content-location') ?? '';
    const { request, runs } = await spansOfRun(receiver, location.split('/').at(-1) ?? '');
    expect(runs[0]?.links).toMatchObject([{ trace_id: request.trace_id, span_id: request.span_id }]);
    expect(request.name).toBe(`POST /runs/${how}`);
    expect(runs[0]?.attributes).not.toHaveProperty('svc.thread_id');
  });

  it('of a batch has a link to the request, which names each run', async () => {
    const one = { assistant_id: 'chat', input };
    const { body } = await server.call('POST', '/runs/batch', [one, one]);
    const ids = (body as { run_id: string }[]).map(({ run_id }) => run_id);
    const runs = await eventually(() => {
      const spans = runSpans(receiver).filter(({ attributes }) =>
        ids.includes(String(attributes['svc.run_id'])),
      );
      const request = requestSpans(receiver).find(({ name }) => name === 'POST /runs/batch');
      if (spans.length < 2 || !request) throw new Error('the spans have not arrived');
      return { request, links: spans.map(({ links: [link] }) => link?.span_id) };
    });
    const { attributes, events, span_id } = runs.request;
    expect(runs.links).toEqual([span_id, span_id]);
    const named = [attributes, ...events.map((event) => Object.fromEntries(event.attributes))];
    expect(named.map((run) => run['svc.run_id'])).toEqual(ids);
  });

  it('of a command of thread protocol v2 has a link to its request', async () => {
    const { body } = await server.call('POST', '/threads', {});
    const { thread_id } = body as { thread_id: string };
    await server.call('POST', `/threads/${thread_id}/commands`, {
      id: 1,
      method: 'run.start',
      params: { assistant_id: 'chat', input },
    });
    await eventually(() => {
      const of = ({ attributes }: ReceivedSpan): boolean => attributes['svc.thread_id'] === thread_id;
      const request = requestSpans(receiver).find(of);
      const run = runSpans(receiver).find(of);
      if (!request || !run) throw new Error('the spans have not arrived');
      expect(request.name).toBe('POST /threads/:thread_id/commands');
      expect(run.links).toMatchObject([{ span_id: request.span_id }]);
    });
  });

  it('that fails has the status of an error, and no message of the graph', async () => {
    await server.call('POST', '/runs/wait', { assistant_id: 'probe', input: { do: 'throw' } });
    const span = await eventually(() => {
      const failed = runSpans(receiver).find(({ attributes }) => attributes['svc.status'] === 'error');
      if (!failed) throw new Error('the span has not arrived');
      return failed;
    });
    expect(span).toMatchObject({ status: { code: statuses.error, message: '' }, events: [] });
    expect(span.attributes).toMatchObject({ 'svc.graph_id': 'probe', 'error.type': 'error' });
  });

  it('that loses its executor is a span with the loss, and the next attempt is another span', async () => {
    const dir = testFolder();
    const { body } = await server.call('POST', '/runs', {
      assistant_id: 'crashing',
      input: { dir, deaths: [1] },
    });
    const { runs } = await spansOfRun(receiver, (body as { run_id: string }).run_id, 2);
    expect(runs).toMatchObject([
      { status: { code: statuses.error }, attributes: { 'svc.attempt': 1, 'svc.status': 'lost' } },
      { status: { code: statuses.unset }, attributes: { 'svc.attempt': 2, 'svc.status': 'success' } },
    ]);
    for (const { attributes } of runs) expect(attributes['svc.waiting_seconds']).toEqual(expect.any(Number));
  });

  it('has no link when another node got the request: both spans have the id of the run', async () => {
    await using api = await startTestServer({
      database: server.database,
      settings: settingsFor(receiver),
      executors: 'none',
    });
    const { body } = await api.call('POST', '/runs', { assistant_id: 'chat', input });
    const { run_id } = body as { run_id: string };
    const { request, runs } = await spansOfRun(receiver, run_id);
    expect(runs[0]?.links).toEqual([]);
    expect(runs[0]?.resource['service.instance.id']).not.toBe(request.resource['service.instance.id']);
    expect(Number(runs[0]?.attributes['svc.waiting_seconds'])).toBeGreaterThan(0);
  });
});

it('all spans have the resource and the headers of the settings', async () => {
  await server.call('GET', '/info');
  await eventually(() => expect(receiver.spans.length).toBeGreaterThan(0));
  const [first] = receiver.spans;
  expect(first?.resource).toMatchObject({
    'service.name': 'agents',
    'service.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
    'service.instance.id': expect.any(String),
    'deployment.environment.name': 'test one',
    team: 'a',
  });
  const { path, headers } = receiver.requests[0] ?? {};
  expect(path).toBe('/v1/traces');
  expect(headers).toMatchObject({ 'x-api-key': 'se,cret', 'content-type': 'application/x-protobuf' });
});

it('a sampler of the settings decides which spans are sent', async () => {
  await using own = await startReceiver();
  const settings = settingsFor(own, { OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  {
    await using quiet = await startTestServer({ settings, executors: 'none' });
    await quiet.call('GET', '/info');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await quiet.call('POST', '/threads', {}, { traceparent });
  }
  expect(own.spans.map(({ name }) => name)).toEqual(['POST /threads']);
});

it('a request through http.app is one span, also when a built-in route serves it', async () => {
  await using own = await startReceiver();
  {
    const code = `export const app = new Hono().get('/shop/:id', (context) => context.text('ok'));`;
    await using custom = await startCustomServer(code, { settings: settingsFor(own) });
    await custom.call('GET', '/shop/secret');
    const { body } = await custom.call('POST', '/runs', { assistant_id: 'chat', input: { messages: [] } });
    const { request, runs } = await spansOfRun(own, (body as { run_id: string }).run_id);
    expect(runs[0]?.links).toMatchObject([{ span_id: request.span_id }]);
  }
  expect(
    requestSpans(own)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['GET /shop/:id', 'POST /runs']);
});
