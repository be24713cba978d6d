import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Problem } from '@svc/contract/problem';
import { startTestApp, type TestApp } from '../../../test/http-app.ts';

const runId = '01234567-89ab-4cde-8f01-23456789abcd';
const json = { 'content-type': 'application/json' };

const post = (
  app: { url: string },
  path: string,
  body: RequestInit['body'],
  headers: Record<string, string> = json,
) => fetch(app.url + path, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);

/** Sends exactly these bytes; returns all bytes until the server closes. */
const exchange = async (app: TestApp, request: string): Promise<string> => {
  const socket = connect(app.port, app.host);
  socket.write(request);
  return text(socket);
};

const bodyOf = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe('a response', () => {
  it('has the value, the headers of the reply and the default headers', async () => {
    await using app = await startTestApp();
    const response = await fetch(`${app.url}/runs/${runId}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toStrictEqual({ run_id: runId });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'content-location': `/runs/${runId}`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
  });

  it('with status 204 has no body; raw JSON is sent unchanged; a page is HTML', async () => {
    await using app = await startTestApp();
    const deleted = await fetch(`${app.url}/runs/${runId}`, { method: 'DELETE' });
    expect([deleted.status, await deleted.text()]).toStrictEqual([204, '']);
    expect(deleted.headers.get('content-type')).toBeNull();
    expect(await (await fetch(`${app.url}/raw`)).text()).toBe('{ "as": "stored" }');
    const page = await fetch(`${app.url}/page`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("style-src 'unsafe-inline'");
    expect(await bodyOf(await fetch(`${app.url}/`))).toStrictEqual({ ok: true });
  });

  it('returns a valid request id and replaces an invalid one', async () => {
    await using app = await startTestApp();
    const idFor = async (sent: string) =>
      (await fetch(`${app.url}/raw`, { headers: { 'x-request-id': sent } })).headers.get('x-request-id');
    expect(await idFor('trace-1')).toBe('trace-1');
    expect(await idFor('two words')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is logged in one line with the route's pattern, not the URL", async () => {
    await using app = await startTestApp();
    await fetch(`${app.url}/runs/${runId}?secret=1`, { headers: { 'x-request-id': 'r1' } });
    expect(app.lines).toStrictEqual([
      {
        level: 'info',
        msg: 'request',
        method: 'GET',
        route: '/runs/:run_id',
        status: 422,
        ms: expect.any(Number),
        request_id: 'r1',
      },
    ]);
  });
});

describe('the log', () => {
  it('contains the request headers that are selected', async () => {
    await using app = await startTestApp(
      {},
      { loggedHeaders: (headers) => ({ plan: headers['x-plan'] ?? '' }) },
    );
    await fetch(`${app.url}/raw`, { headers: { 'X-Plan': 'gold' } });
    expect(app.lines).toMatchObject([{ msg: 'request', headers: { plan: 'gold' } }]);
  });
});

describe('the root', () => {
  it('returns JSON to programs and a page to browsers', async () => {
    await using app = await startTestApp();
    const toProgram = await fetch(app.url);
    expect(await toProgram.json()).toEqual({ ok: true });
    const toBrowser = await fetch(app.url, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(toBrowser.headers.get('content-type')).toContain('text/html');
    expect(await toBrowser.text()).toContain('href="/docs"');
  });
});

describe('a path', () => {
  it('without parameters has priority over one with a parameter, in any order of the table', async () => {
    await using app = await startTestApp();
    expect(await (await fetch(`${app.url}/runs/wait`, { method: 'POST' })).json()).toStrictEqual({
      done: true,
    });
    expect(await (await fetch(`${app.url}/runs/${runId}`, { method: 'POST' })).json()).toStrictEqual({
      posted: true,
    });
  });

  it('is decoded once', async () => {
    await using app = await startTestApp();
    const named = async (segment: string) =>
      (await bodyOf(await fetch(`${app.url}/names/${segment}`)))['name'];
    expect(await named('a%20b')).toBe('a b');
    expect(await named('a%3Fb')).toBe('a?b');
    expect(await named('a%252Fb')).toBe('a%2Fb');
    expect(await named('%E4%BD%A0')).toBe('你');
    expect(await named('a+b')).toBe('a+b');
  });

  it.each([
    ['GET', '/runs/abc', 422],
    ['GET', '/runs/%2e%2e%2f..', 400],
    ['GET', '/names/%00', 422],
    ['GET', '/names/%ff', 400],
    ['GET', '/names/%', 400],
    ['GET', '/names/x?q=%ff', 400],
    ['POST', '/search?tags=a%00', 422],
    ['GET', '/../etc/passwd', 400],
    ['GET', '/nothing', 404],
    ['GET', '/raw/', 404],
    ['GET', '//raw', 400],
    ['GET', '/runs/../raw', 400],
    ['GET', '/a\\b', 400],
    ['GET', `/names/${'x'.repeat(9000)}`, 414],
    ['GET', `/names/${'x'.repeat(20_000)}`, 431],
    ['GET', '/__proto__', 404],
    ['TRACE', '/raw', 405],
    ['BREW', '/raw', 400],
    ['PATCH', '/raw', 405],
    ['GET', '/runs/stream', 405],
    ['GET', '/runs/none', 422],
  ])('%s %s returns %i', async (method, path, status) => {
    await using app = await startTestApp();
    const answer = await exchange(app, `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect(answer.split(' ')[1]).toBe(String(status));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as object;
    expect(Object.keys(body).toSorted()).toStrictEqual(['code', 'detail', 'message', 'request_id']);
  });

  it('with other methods lists them in Allow', async () => {
    await using app = await startTestApp();
    const refused = await fetch(`${app.url}/runs/${runId}`, { method: 'PUT' });
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')).toBe('GET, HEAD, DELETE, POST, OPTIONS');
    const shadowing = await fetch(`${app.url}/runs/stream`);
    expect([shadowing.status, shadowing.headers.get('allow')]).toStrictEqual([405, 'POST, OPTIONS']);
    const options = await fetch(`${app.url}/runs/${runId}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example' },
    });
    expect([options.status, options.headers.get('access-control-allow-origin')]).toStrictEqual([204, null]);
  });

  it('handles HEAD as GET without the body, and rejects it for a stream', async () => {
    await using app = await startTestApp();
    const head = await fetch(`${app.url}/raw`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toStrictEqual([200, '']);
    const refused = await fetch(`${app.url}/watch`, { method: 'HEAD' });
    expect([refused.status, refused.headers.get('allow')]).toStrictEqual([405, 'GET, OPTIONS']);
  });
});

describe('input', () => {
  it('gets its defaults, and an absent body is an empty object when the route allows it', async () => {
    await using app = await startTestApp();
    expect(await bodyOf(await fetch(`${app.url}/search`, { method: 'POST' }))).toStrictEqual({ limit: 10 });
    expect(await bodyOf(await post(app, '/search?tags=a&tags=b', '{"limit":5}'))).toStrictEqual({
      limit: 5,
      tags: ['a', 'b'],
    });
    expect(await bodyOf(await post(app, '/search?tags=a', '{}'))).toStrictEqual({ limit: 10, tags: 'a' });
  });

  it.each(['/search?other=1', '/search?__proto__=1'])('with an unknown key is rejected: %s', async (path) => {
    await using app = await startTestApp();
    expect((await post(app, path, '{}')).status).toBe(422);
  });

  it('that fails validation is rejected with every error and its location', async () => {
    await using app = await startTestApp();
    const response = await post(app, '/search', '{"limit":1.5,"metadata":[]}');
    expect(response.status).toBe(422);
    expect(await response.json()).toStrictEqual({
      detail: [
        { loc: ['body', 'limit'], msg: 'Invalid input: expected int, received number', type: 'invalid_type' },
        {
          loc: ['body', 'metadata'],
          msg: 'Invalid input: expected record, received array',
          type: 'invalid_type',
        },
      ],
      message:
        'body.limit: Invalid input: expected int, received number; body.metadata: Invalid input: expected record, received array',
      code: 'invalid',
      request_id: response.headers.get('x-request-id'),
    });
  });

  it.each([
    ['missing', undefined, 415],
    ['text/plain', 'text/plain', 415],
    ['a form', 'application/x-www-form-urlencoded', 415],
    ['multipart', 'multipart/form-data; boundary=x', 415],
    ['JSON in name only', 'application/jsonp', 415],
    ['JSON after something else', 'text/plain; application/json', 415],
    ['JSON with a tab', 'application/json;\t', 200],
    ['JSON with parameters', 'Application/JSON; charset=utf-8', 200],
    ['a dialect of JSON', 'application/merge-patch+json', 200],
  ])('with a content type that is %s has a status', async (_, type, status) => {
    await using app = await startTestApp();
    const bytes = new TextEncoder().encode('{"limit":5}');
    const response = await post(app, '/search', bytes, type === undefined ? {} : { 'content-type': type });
    expect(response.status).toBe(status);
  });

  it('that is compressed, has two content types, or is absent is rejected', async () => {
    await using app = await startTestApp();
    expect((await post(app, '/search', '{}', { ...json, 'content-encoding': 'gzip' })).status).toBe(415);
    const head = 'POST /search HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n';
    const twice = await exchange(
      app,
      `${head}content-type: application/json\r\nContent-Type: text/plain\r\n\r\n{}`,
    );
    expect(twice).toMatch(/^HTTP\/1.1 400 /);
    expect((await fetch(`${app.url}/items`, { method: 'PUT' })).status).toBe(422);
  });

  it('at the byte limit is accepted, one byte more is rejected', async () => {
    await using app = await startTestApp({}, { limits: { bodyBytes: 1000 } });
    const sized = (bytes: number): string => `{"limit":5}${' '.repeat(bytes - 11)}`;
    const streamed = (bytes: number) => new Blob([sized(bytes)]).stream();
    expect((await post(app, '/search', sized(1000))).status).toBe(200);
    expect((await post(app, '/search', streamed(1000))).status).toBe(200);
    const refused = await post(app, '/search', sized(1001));
    expect([refused.status, (await bodyOf(refused))['code']]).toStrictEqual([413, 'too_large']);
    expect((await post(app, '/search', streamed(1001))).status).toBe(413);
  });

  it('far above the limit is rejected before it is read, and the server keeps serving', async () => {
    await using app = await startTestApp({}, { limits: { bodyBytes: 1000 } });
    const announced =
      'POST /search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 60000000\r\n\r\n{';
    const socket = connect(app.port, app.host);
    socket.write(announced);
    const [first] = (await new Promise((resolve) => socket.once('data', (data) => resolve([data])))) as [
      Buffer,
    ];
    expect(first.toString()).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
    expect((await post(app, '/search', ' '.repeat(5_000_000))).status).toBe(413);
    expect((await fetch(`${app.url}/raw`)).status).toBe(200);
  });

  const bodies: [text: string, status: number][] = [
    ['{"metadata":{"a":1,"a":2}}', 422],
    ['{"metadata":{"__proto__":{"x":1}}}', 422],
    ['{"metadata":{"constructor":{"prototype":{}},"toString":1}}', 200],
    ['{"metadata":{"a":"\\u0000"}}', 422],
    ['{"metadata":{"a":1e400}}', 422],
    [`{"metadata":{"a":${'['.repeat(120)}${']'.repeat(120)}}}`, 422],
    ['{"limit":', 400],
    ['[]', 422],
    ['null', 422],
  ];
  it.each(bodies.map((one) => [one[0].slice(0, 60), ...one] as const))(
    '%s returns a status',
    async (_, text, status) => {
      await using app = await startTestApp();
      expect((await post(app, '/search', text)).status).toBe(status);
    },
  );

  it('that the client aborts has no effect', async () => {
    await using app = await startTestApp();
    const socket = connect(app.port, app.host);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(
      'POST /search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"lim',
    );
    socket.resume();
    await closed;
    expect((await fetch(`${app.url}/raw`)).status).toBe(200);
    expect(app.lines.filter(({ level }) => level === 'error')).toStrictEqual([]);
  });
});

describe('an error', () => {
  const failing = async (error: unknown) => {
    const app = await startTestApp({
      raw: () => {
        throw error;
      },
    });
    return { app, response: await fetch(`${app.url}/raw`) };
  };

  it('that is unknown exposes nothing, and is logged completely', async () => {
    const cause = new Error('password is hunter2');
    const { app, response } = await failing(cause);
    await using _ = app;
    expect(response.status).toBe(500);
    const body = await response.text();
    expect(body).not.toContain('hunter2');
    expect(app.lines).toContainEqual({
      level: 'error',
      msg: 'Internal server error; see the log of the server.',
      err: cause,
      code: 'internal',
      request_id: response.headers.get('x-request-id'),
    });
  });

  it('during a database outage has Retry-After', async () => {
    const { app, response } = await failing(new Problem('unavailable', 'The database cannot be reached.'));
    await using _ = app;
    expect([response.status, response.headers.get('retry-after')]).toStrictEqual([503, '2']);
  });

  it('that is a Problem is returned with its message', async () => {
    const { app, response } = await failing(new Problem('conflict', 'The thread is busy.'));
    await using _ = app;
    expect([response.status, await bodyOf(response)]).toStrictEqual([
      409,
      {
        detail: 'The thread is busy.',
        message: 'The thread is busy.',
        code: 'conflict',
        request_id: response.headers.get('x-request-id'),
      },
    ]);
  });

  it('about output that JSON cannot represent is an internal error', async () => {
    await using app = await startTestApp({ raw: () => 1n as unknown as number });
    expect((await fetch(`${app.url}/raw`)).status).toBe(500);
  });
});

it('a request for a host that is none is rejected', async () => {
  await using app = await startTestApp();
  const answer = await exchange(app, 'GET /raw HTTP/1.1\r\nhost: a b\r\nconnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
});
