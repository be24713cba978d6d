// Requests that two programs may parse in different ways.
import { beforeAll, describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { exchange, send } from './wire.ts';
import { fixture } from '../fixture.ts';

const key = 'a-key-of-thirty-two-letters-at-least';

const open = fixture(() => startTestServer({ executors: 'none' }));
const guarded = fixture(() => startTestServer({ executors: 'none', settings: { apiKeys: key } }));
let thread_id: string;

beforeAll(async () => {
  const { body } = await open.call('POST', '/threads', { metadata: { canary: 'tweet' } });
  thread_id = (body as { thread_id: string }).thread_id;
});

describe('a query', () => {
  it.each(['limit=&status=', 'limit=10&offset=', 'select='])(
    'with an empty value is one without it: %s',
    async (query) => {
      expect(await open.call('GET', `/threads/${thread_id}/runs?${query}`)).toMatchObject({
        status: 200,
        body: [],
      });
    },
  );

  it.each(['True', 'TRUE', 'true', 'False', '0'])('has booleans in any case: %s', async (value) => {
    const item = await open.call('GET', `/store/items?namespace=a&key=b&refresh_ttl=${value}`);
    expect(item.status).toBe(200);
  });

  it('has no other booleans', async () => {
    expect((await open.call('GET', '/store/items?namespace=a&key=b&refresh_ttl=maybe')).status).toBe(422);
  });
});

describe('an operation of stock clients that the server does not have', () => {
  it('is not repeated by them', async () => {
    const answer = await open.call('GET', '/api/v1/datasets');
    expect(answer.status).toBe(501);
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });
});

describe('a request of HTTP/1.0 without a Host header', () => {
  it.each([
    ['GET /ok', 200],
    ['OPTIONS /', 204],
    ['OPTIONS /ok', 204],
    ['GET /no/such/path', 404],
  ])('is served, as of health checks of HAProxy: %s', async (line, status) => {
    for (const server of [open, guarded]) {
      const isPublic = status !== 404 || server === open;
      const answer = await exchange(server, `${line} HTTP/1.0\r\n\r\n`);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${isPublic ? status : 40}`));
    }
  });
});

describe('a path', () => {
  it.each([
    ['/ok/../threads/:id', 400],
    ['/ok/%2e%2e/threads/:id', 400],
    ['/ok/.%2E/threads/:id', 400],
    ['/./threads/:id', 400],
    ['/threads/:id/.', 400],
    ['/threads/:id/..', 400],
    ['//threads/:id', 400],
    ['/threads//:id', 400],
    ['/ui/..%2fthreads/:id', 400],
    ['/threads%2F:id', 400],
    ['/threads%5c:id', 400],
    ['/ok\\..\\threads\\:id', 400],
    ['/threads/:id;v=1', 400],
    ['/ok;/../threads/:id', 400],
    ['/threads/:id#x', 400],
    ['/%74hreads/:id', 404],
    ['/THREADS/:id', 404],
    ['/threads/:id/', 404],
    ['/okx', 404],
    ['/OK', 404],
    ['/ok/', 404],
    ['/docs/../threads/:id', 400],
    ['/docsx', 404],
    ['/threads/:id%00', 422],
  ])('%s returns no data and does not skip authentication', async (template, status) => {
    const path = template.replace(':id', thread_id);
    const answer = await send(open, { path });
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain('tweet');
    // A path without a route needs no key.
    expect((await send(guarded, { path })).status).toBe(status === 422 ? 401 : status);
  });

  it.each(['http://127.0.0.1/threads/:id', 'HTTPS://127.0.0.1/threads/:id', '*'])(
    '%s is rejected',
    async (template) => {
      const answer = await send(open, { path: template.replace(':id', thread_id) });
      expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
        400,
        { message: 'The request target must be a path, not a URL.' },
      ]);
    },
  );

  it('in normal form is found with any query', async () => {
    const answer = await send(open, { path: `/threads/${thread_id}?include=/../x;y//z%2F#` });
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('tweet')]);
  });
});

describe('a header', () => {
  it.each([
    ['x-api-key', key, key],
    ['x-api-key', 'wrong', key],
    ['authorization', 'Bearer a', 'Bearer b'],
    ['Authorization', 'Bearer a', 'Bearer a'],
    ['host', '127.0.0.1', 'evil.example'],
    ['content-type', 'application/json', 'text/plain'],
    ['origin', 'http://127.0.0.1', 'https://evil.example'],
    ['sec-fetch-site', 'same-origin', 'cross-site'],
  ])('%s is rejected on every route when it is repeated', async (name, one, other) => {
    const headers = [
      [name, one],
      [name.toUpperCase(), other],
    ] as const;
    for (const path of ['/ok', '/info', `/threads/${thread_id}`, '/nothing']) {
      for (const server of [open, guarded]) {
        const answer = await send(server, { path, headers });
        expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
          400,
          { message: `The request has more than one ${name.toLowerCase()} header.` },
        ]);
      }
    }
  });
});

describe('a method', () => {
  it('TRACE is rejected and returns nothing of the request', async () => {
    const headers = [['x-api-key', 'not-to-be-echoed']] as const;
    for (const [path, status] of [
      [`/threads/${thread_id}`, 405],
      ['/ok', 405],
      ['/nothing', 404],
    ] as const) {
      const answer = await send(open, { method: 'TRACE', path, headers });
      expect(answer.status).toBe(status);
      expect(answer.body).not.toContain('not-to-be-echoed');
    }
  });

  it('CONNECT opens no tunnel', async () => {
    const { host } = new URL(open.url);
    expect(await exchange(open, `CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).not.toMatch(
      /^HTTP\/1.1 2/,
    );
  });

  it('in a header that some frameworks support is ignored', async () => {
    const headers = [['x-http-method-override', 'DELETE']] as const;
    await send(open, { method: 'POST', path: `/threads/${thread_id}`, headers });
    await send(open, { path: `/threads/${thread_id}?_method=DELETE`, headers });
    expect((await send(open, { path: `/threads/${thread_id}` })).status).toBe(200);
  });
});

describe('a body', () => {
  const smuggled = 'GET /info HTTP/1.1\r\nhost: localhost\r\n\r\n';
  it.each([
    ['a length and chunks', 'content-length: 5\r\ntransfer-encoding: chunked'],
    ['chunks and a length', 'transfer-encoding: chunked\r\ncontent-length: 5'],
    ['two lengths', 'content-length: 5\r\ncontent-length: 6'],
    ['an invalid length', 'content-length: +5'],
    ['a coding that hides another', 'transfer-encoding: chunked, identity'],
    ['a coding with a blank before the colon', 'transfer-encoding : chunked'],
  ])('with %s is rejected, and the bytes after it are ignored', async (_, length) => {
    const answer = await exchange(
      open,
      `POST /threads HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${length}\r\n\r\n0\r\n\r\n${smuggled}`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer.match(/HTTP\/1.1 \d/g)).toHaveLength(1);
  });
});

describe('an invalid HTTP request', () => {
  const expectProblem = (answer: string, status: number, code: string): void => {
    expect(answer, answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
    expect(Object.keys(body).toSorted()).toEqual(['code', 'detail', 'message', 'request_id']);
    expect(body['code']).toBe(code);
    expect(answer).toMatch(/^content-type: application\/json\r$/im);
    expect(answer).toMatch(/^x-request-id: \S+\r$/im);
  };
  const post = (more: string, body = ''): string =>
    `POST /threads HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n${more}\r\n\r\n${body}`;

  it.each([
    ['no Host header', 'GET /ok HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'bad_request'],
    ['a header without a colon', 'GET /ok HTTP/1.1\r\nhost: localhost\r\nx\r\n\r\n', 400, 'bad_request'],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'bad_request'],
    ['two lengths', post('content-length: 2\r\ncontent-length: 3', '{}'), 400, 'bad_request'],
    [
      'a length and chunks',
      post('content-length: 2\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
      400,
      'bad_request',
    ],
    ['an unsupported expectation', post('expect: a-miracle\r\ncontent-length: 2', '{}'), 417, 'bad_request'],
    [
      'a body with a transfer compression',
      post('transfer-encoding: gzip, chunked', '0\r\n\r\n'),
      501,
      'not_supported',
    ],
    [
      'a body in two codings',
      post('transfer-encoding: identity, chunked', '0\r\n\r\n'),
      501,
      'not_supported',
    ],
    ['an invalid chunk', post('transfer-encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'), 400, 'bad_request'],
    [
      'too long a head',
      `GET /ok HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      431,
      'too_large',
    ],
    [
      'an upgrade',
      'GET /ok HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n',
      200,
      '',
    ],
  ])('gets the documented error body: %s', async (_, bytes, status, code) => {
    const answer = await exchange(open, bytes);
    if (status === 200) expect(answer).toMatch(/^HTTP\/1.1 200 /);
    else expectProblem(answer, status, code);
  });

  it('gets the documented error body also after an earlier response on the connection', async () => {
    const answer = await exchange(open, `GET /ok HTTP/1.1\r\nhost: localhost\r\n\r\nnonsense\r\n\r\n`);
    expectProblem(answer.slice(answer.lastIndexOf('HTTP/1.1')), 400, 'bad_request');
  });

  it('with many headers is rejected, or all of them are read', async () => {
    const many = Array.from({ length: 3_000 }, () => 'a:\r\n').join('');
    const answer = await exchange(
      guarded,
      `GET /threads/${thread_id} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${many}x-api-key: ${key}\r\n\r\n`,
    );
    expectProblem(answer, 431, 'too_large');
    const some = Array.from({ length: 200 }, (_, at) => `a${at}:\r\n`).join('');
    const served = await exchange(
      guarded,
      `GET /threads/${thread_id} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${some}x-api-key: ${key}\r\n\r\n`,
    );
    expect(served).toMatch(/^HTTP\/1.1 404 /);
  });
});
