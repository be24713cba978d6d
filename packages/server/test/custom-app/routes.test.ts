// Custom routes, and middleware of http.app around the built-in routes.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Client as StockClient } from '@langchain/langgraph-sdk';
import { createClient } from '@svc/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../collect.ts';
import { openStream } from '../edge/wire.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { isRunEnd } from '../thread-protocol/feed.ts';
import { openSocket, refusal } from '../thread-protocol/socket.ts';
import { chatInput, requestsOf, startCustomServer } from './custom-server.ts';

const app = `
import { Client } from '@langchain/langgraph-sdk';
import { HTTPException } from 'HONO/http-exception';
const seen = { aborted: 0, pulled: 0 };
export const app = new Hono();
app.use(async (c, next) => {
  c.header('x-before', 'yes');
  await next();
  c.header('x-after', c.req.header('x-request-id'));
});
app.use('/threads/*', async (c, next) => {
  if (c.req.header('x-read') === 'json') await c.req.json();
  if (c.req.header('x-read') === 'text') await c.req.text();
  if (c.req.header('x-read') === 'form') await c.req.formData();
  if (c.req.header('x-read') === 'raw') await c.req.raw.json();
  if (c.req.header('x-read') === 'request') {
    const body = await c.req.json();
    c.req.raw = new Request(c.req.raw, { body: JSON.stringify({ ...body, metadata: { by: 'request' } }) });
  }
  if (c.req.header('x-read') === 'variable') {
    const body = await c.req.json();
    c.set('body', JSON.stringify({ ...body, metadata: { by: 'variable' } }));
  }
  if (c.req.header('x-stop')) return c.json({ stopped: true }, 418);
  await next();
});
app.get('/custom/hello/:name', (c) => c.json({ hello: c.req.param('name'), query: c.req.query('q') ?? null }));
app.get('/runs/afakeroute', (c) => c.json({ foo: 'afakeroute' }));
app.get('/assistants/:id/own', (c) => c.text('own'));
app.get('/assistants/mine', (c) => c.text('mine'));
app.get('/store/namespaces/:any', (c) => c.text('free'));
app.post('/assistants/:id/latest', (c) => c.text('replaced'));
app.post('/custom/echo', async (c) => c.json({ length: (await c.req.text()).length }));
app.get('/custom/throws', () => { throw new Error('a secret cause'); });
app.get('/custom/rejects', async () => { throw 'not an error'; });
app.get('/custom/nothing', () => undefined as never);
app.get('/custom/teapot', () => { throw new HTTPException(418, { message: 'short and stout' }); });
app.get('/custom/later', (c) => { setTimeout(() => { throw new Error('later'); }, 1); return c.text('ok'); });
app.get('/custom/client', async (c) => {
  const client = new Client();
  const thread = await client.threads.create();
  const events = [];
  for await (const { event } of client.runs.stream(thread.thread_id, 'chat', { input: ${JSON.stringify(chatInput)} }))
    events.push(event);
  return c.json({ thread_id: thread.thread_id, events });
});
app.get('/custom/own-request', async () => {
  const fetchOwn = globalThis[Symbol.for('langgraph_api:fetch')];
  return fetchOwn('/custom/length', { method: 'POST', body: '"ü"' });
});
app.post('/custom/length', (c) => c.json({ length: c.req.header('content-length') ?? null }));
app.get('/custom/endless', (c) => {
  const stream = new ReadableStream({
    pull(controller) { seen.pulled += 1; controller.enqueue(new Uint8Array(65536)); },
    cancel() { seen.aborted += 1; },
  });
  return c.body(stream);
});
app.get('/custom/seen', (c) => c.json(seen));
app.get('/ok', (c) => c.text('hidden'));
`;

const copies = ['hono', 'hono-4-0'] as const;

describe.each(copies)('an app of the package %s', (hono) => {
  const server = fixture(() =>
    startCustomServer(app.replaceAll('HONO', hono), {
      hono,
      settings: { bodyLimit: '200kb' },
    }),
  );
  let client: ReturnType<typeof createClient>;
  beforeAll(async () => {
    client = createClient({ apiUrl: server.url });
  });

  const create = (headers: Record<string, string>, body: unknown = {}) =>
    server.call('POST', '/threads', body, { ...headers });

  it('serves its routes, also below paths of built-in routes', async () => {
    expect(await server.call('GET', '/custom/hello/ann?q=1')).toMatchObject({
      status: 200,
      body: { hello: 'ann', query: '1' },
    });
    expect((await server.call('GET', '/runs/afakeroute')).body).toEqual({ foo: 'afakeroute' });
    expect((await server.call('GET', '/assistants/1/own')).body).toBe('own');
    expect((await server.call('HEAD', '/custom/hello/ann')).status).toBe(200);
  });

  it('does not get probes', async () => {
    expect((await server.call('GET', '/ok')).body).toEqual({ ok: true });
    expect((await server.call('GET', '/metrics')).headers.get('x-before')).toBeNull();
  });

  it('runs its middleware around built-in routes, with the id of the request', async () => {
    const { status, headers } = await server.call('GET', '/info', undefined, { 'x-request-id': 'mine' });
    expect(status).toBe(200);
    expect(headers.get('x-before')).toBe('yes');
    expect(headers.get('x-after')).toBe('mine');
    expect(headers.get('x-request-id')).toBe('mine');
    expect(headers.get('content-type')).toBe('application/json');
  });

  it('passes on responses without a body', async () => {
    const { thread_id } = await client.threads.create();
    const { status, headers } = await server.call('DELETE', `/threads/${thread_id}`);
    expect([status, headers.get('x-before')]).toEqual([204, 'yes']);
  });

  it('runs its middleware before a WebSocket is opened', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    await socket.command('run.start', { assistant_id: 'chat', input: chatInput });
    await socket.command('subscription.subscribe', { channels: ['lifecycle'] });
    expect((await socket.until(isRunEnd)).map(({ params }) => params.data['event'])).toContain('completed');
    socket.ws.close();
    await socket.closed;
    const refused = await refusal(openSocket(server.url, thread_id, { headers: { 'x-stop': 'yes' } }));
    expect(refused).toMatchObject({ status: 418, body: { stopped: true } });
    await eventually(() => {
      const statuses = server.lines.filter(({ msg }) => msg === 'request').map(({ status }) => status);
      expect(statuses.slice(-2)).toEqual([101, 418]);
    });
  });

  it('may answer instead of a built-in route', async () => {
    expect(await create({ 'x-stop': 'yes' })).toMatchObject({ status: 418, body: { stopped: true } });
  });

  it('answers unknown paths and methods as without an app', async () => {
    expect(await server.call('GET', '/nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const refused = await server.call('PUT', '/custom/echo', {});
    expect(refused).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await server.call('PUT', '/threads', {})).status).toBe(405);
  });

  it.each(['', 'json', 'text', 'request', 'variable'])(
    'leaves the body to built-in routes when its middleware has read it as %j',
    async (read) => {
      const { status, body } = await create({ 'x-read': read }, { metadata: { a: [1, 'ü'] } });
      const metadata = ['request', 'variable'].includes(read) ? { by: read } : { a: [1, 'ü'] };
      expect({ status, body }).toMatchObject({ status: 200, body: { metadata } });
    },
  );

  it('gets an explanation in the log when its middleware consumes the body', async () => {
    expect(await create({ 'x-read': 'raw' })).toMatchObject({ status: 500, body: { code: 'internal' } });
    const [error] = server.lines.filter(({ level }) => level === 50).slice(-1);
    expect(error).toMatchObject({ err: { message: expect.stringContaining('consumed the body') } });
  });

  it.each(['throws', 'rejects', 'nothing'])('that %s gets a 500 problem and a log line', async (what) => {
    const { status, body, headers } = await server.call('GET', `/custom/${what}`);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(body).toMatchObject({ code: 'internal', request_id: headers.get('x-request-id') });
    const line = server.lines.find(
      ({ level, request_id }) => level === 50 && request_id === headers.get('x-request-id'),
    );
    expect(JSON.stringify(line)).toContain(
      { throws: 'a secret cause', rejects: 'not an error', nothing: 'Context is not finalized' }[what],
    );
  });

  it('may throw responses', async () => {
    expect(await server.call('GET', '/custom/teapot')).toMatchObject({
      status: 418,
      body: 'short and stout',
    });
  });

  it('has its requests in the log and in the metrics, by the pattern of the route', async () => {
    await server.call('GET', '/custom/hello/bob', undefined, { 'x-request-id': 'logged' });
    await server.call('POST', '/threads/search', {}, { 'x-request-id': 'built-in' });
    await eventually(() => {
      const find = (id: string) => requestsOf(server).filter(({ request_id }) => request_id === id);
      expect(find('logged')).toMatchObject([{ method: 'GET', route: '/custom/hello/:name', status: 200 }]);
      expect(find('built-in')).toMatchObject([{ method: 'POST', route: '/threads/search', status: 200 }]);
    });
    const { body } = await server.call('GET', '/metrics');
    expect(body).toMatch(/route="\/custom\/hello\/:name"/);
  });

  it('streams, waits and joins as without an app, for both clients', async () => {
    const { thread_id } = await client.threads.create();
    const events = await collect(
      client.runs.stream(thread_id, 'chat', { input: chatInput, stream_mode: 'values' }),
    );
    expect(events.map(({ event }) => event)).toContain('values');
    expect(await client.runs.wait(thread_id, 'chat', { input: chatInput })).toHaveProperty('messages');
    const stock = new StockClient({ apiUrl: server.url });
    const resumable = stock.runs.stream(thread_id, 'chat', { input: chatInput, streamResumable: true });
    expect((await collect(resumable)).map(({ event }) => event)).toContain('values');
    const line = await eventually(() => {
      const [found] = requestsOf(server).filter(({ route }) => route === '/threads/:thread_id/runs/stream');
      expect(found).toBeDefined();
      return found;
    });
    expect(line).toMatchObject({ status: 200, thread_id, run_id: expect.any(String) });
  });

  it('sends the head of a stream before its first event, and cancels the run of a client that disconnects', async () => {
    const { thread_id } = await client.threads.create();
    const body = JSON.stringify({ assistant_id: 'barrier', input: { do: 'x' }, on_disconnect: 'cancel' });
    const { status, headers, socket } = await openStream(server, {
      method: 'POST',
      path: `/threads/${thread_id}/runs/stream`,
      headers: [['content-type', 'application/json']],
      body,
    });
    expect({ status, after: headers['x-before'] }).toEqual({ status: 200, after: 'yes' });
    const [run] = await eventually(async () => {
      const runs = await client.runs.list(thread_id);
      expect(runs[0]?.status).toBe('running');
      return runs;
    });
    socket.destroy();
    await eventually(async () =>
      expect((await client.runs.get(thread_id, run?.run_id ?? '')).status).toBe('interrupted'),
    );
  });

  it('streams no faster than the client reads, and is told when it disconnects', async () => {
    const { socket } = await openStream(server, { path: '/custom/endless' });
    socket.pause();
    const seen = async () =>
      (await server.call('GET', '/custom/seen')).body as { pulled: number; aborted: number };
    const before = await seen();
    let still = before.pulled;
    await eventually(async () => {
      const { pulled } = await seen();
      const isStill = pulled === still;
      still = pulled;
      expect(isStill).toBe(true);
    });
    expect(still).toBeLessThan(1000);
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    await eventually(async () => expect((await seen()).aborted).toBe(before.aborted + 1));
  });

  it('gets bodies of limited size only', async () => {
    const large = 'x'.repeat(300_000);
    expect(await server.call('POST', '/custom/echo', large)).toMatchObject({ status: 413 });
    const chunked = await fetch(`${server.url}/custom/echo`, {
      method: 'POST',
      body: new Blob([large]).stream(),
      duplex: 'half',
    });
    expect([chunked.status, await chunked.json()]).toMatchObject([413, { code: 'too_large' }]);
    expect(await create({ 'x-read': 'json' }, { metadata: { large } })).toMatchObject({ status: 413 });
    expect((await server.call('POST', '/custom/echo', 'x')).body).toEqual({ length: 3 });
  });

  it('reaches the server with a Client without a URL', async () => {
    const { body } = await server.call('GET', '/custom/client');
    const { thread_id, events } = body as { thread_id: string; events: string[] };
    expect(events).toContain('values');
    expect((await client.threads.getState(thread_id)).values).toHaveProperty('messages');
    // These requests are logged too, and pass the middleware.
    await eventually(() =>
      expect(requestsOf(server).filter((line) => line['thread_id'] === thread_id)).toHaveLength(1),
    );
  });

  it('gets the length of the bodies that its Client sends', async () => {
    expect((await server.call('GET', '/custom/own-request')).body).toEqual({ length: '4' });
  });

  it('is named in warnings where it hides built-in routes, or is hidden', () => {
    const warnings = server.lines.filter(({ level }) => level === 40).map(({ msg }) => msg);
    expect(warnings).toEqual([
      'The route GET /ok of http.app is never called: /ok is always that of the server',
      'The route POST /assistants/:id/latest of http.app replaces the built-in route POST /assistants/:assistant_id/latest',
      'The route GET /assistants/mine of http.app replaces the built-in route GET /assistants/:assistant_id at this path',
    ]);
  });
});
