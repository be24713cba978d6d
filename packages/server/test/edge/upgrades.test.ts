// Requests to upgrade the connection pass the checks of all requests. A request for another protocol, or at another path, is served as if it had no
// Upgrade header.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { authProjects } from '../access/auth-projects.ts';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { openSocket, refusal } from '../thread-protocol/socket.ts';
import { sessionAuth } from './session-auth.ts';
import { exchange, send } from './wire.ts';
import { fixture } from '../fixture.ts';

const projects = fixture(() => authProjects());
const lines: unknown[] = [];
let anonymous: TestServer;
let withUsers: TestServer;
let withKey: TestServer;
beforeAll(async () => {
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  anonymous = await startTestServer({ executors: 'none', logger });
  withKey = await startTestServer({
    executors: 'none',
    settings: { apiKeys: 'a-key-of-the-test-server-long-enough' },
  });
  withUsers = await projects.serve(sessionAuth, { settings: { corsOrigins: 'https://friend.test' } });
});
afterAll(async () => {
  for (const server of [anonymous, withUsers, withKey]) await server[Symbol.asyncDispose]();
});

const open = (server: TestServer, headers: Record<string, string>) =>
  openSocket(server.url, randomUUID(), { headers });

describe('an upgrade', () => {
  const cookie = 'session=alice';

  it('needs the credentials of every request', async () => {
    expect(await refusal(open(withUsers, {}))).toMatchObject({
      status: 401,
      body: { message: 'Who are you?' },
    });
    expect(await refusal(open(withKey, {}))).toMatchObject({ status: 401 });
    expect(await refusal(open(withKey, { 'x-api-key': 'other' }))).toMatchObject({ status: 401 });
    const accepted = [
      open(withUsers, { authorization: 'Bearer alice' }),
      open(withUsers, { cookie }),
      open(withKey, { 'x-api-key': 'a-key-of-the-test-server-long-enough' }),
    ];
    for (const { ws } of await Promise.all(accepted)) ws.close();
  });

  it('of a page of another origin is refused if the browser sends the credentials, or if none are needed', async () => {
    for (const origin of ['https://evil.test', 'null']) {
      expect(await refusal(open(withUsers, { cookie, origin }))).toMatchObject({ status: 403 });
      expect(await refusal(open(anonymous, { origin }))).toMatchObject({ status: 403 });
    }
    const accepted = [
      open(withUsers, { cookie, origin: 'https://friend.test' }),
      open(withUsers, { cookie, origin: withUsers.url }),
      open(anonymous, { origin: anonymous.url }),
      open(anonymous, {}),
    ];
    for (const { ws } of await Promise.all(accepted)) ws.close();
  });

  it('for another host name is refused', async () => {
    const headers = { host: 'evil.test', origin: 'http://evil.test' };
    expect(await refusal(open(anonymous, headers))).toMatchObject({ status: 421 });
  });

  it('is needed: a GET without it gets 426, and the connection closes, as its client asks', async () => {
    const path = `/threads/${randomUUID()}/stream/events`;
    const { status, headers } = await send(anonymous, { path });
    expect({ status, ...headers }).toMatchObject({ status: 426, upgrade: 'websocket' });
  });

  it.each([
    ['without a key', []],
    ['with a short key', [['sec-websocket-key', 'abc']]],
    [
      'of an old version',
      [
        ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
        ['sec-websocket-version', '7'],
      ],
    ],
    [
      'with malformed protocols',
      [
        ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
        ['sec-websocket-version', '13'],
        ['sec-websocket-protocol', 'a,,b'],
      ],
    ],
  ] as [string, [string, string][]][])('%s is refused, and logged as such', async (_, headers) => {
    const path = `/threads/${randomUUID()}/stream/events`;
    const request_id = randomUUID();
    const upgrade: [string, string][] = [
      ['upgrade', 'websocket'],
      ['connection', 'upgrade'],
      ['x-request-id', request_id],
    ];
    const { status, body } = await send(anonymous, { path, headers: [...upgrade, ...headers] });
    expect([status, JSON.parse(body)]).toMatchObject([400, { code: 'bad_request' }]);
    await eventually(() =>
      expect(lines).toContainEqual(expect.objectContaining({ request_id, status: 400 })),
    );
  });
});

describe('a request that asks for an upgrade that the server does not have', () => {
  it.each(['h2c', 'websocket'])('to %s is served, with its body', async (protocol) => {
    const body = JSON.stringify({ metadata: { text: 'é'.repeat(50_000) } });
    const head = (length: number) =>
      `POST /threads HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: ${protocol}\r\n` +
      `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    const bytes = Buffer.from(body);
    const text = await exchange(
      anonymous,
      head(bytes.length) +
        bytes.toString('latin1') +
        'GET /ok HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    );
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '200']);
    expect(text).toContain('thread_id');
  });

  it('is served at a path that has no WebSocket', async () => {
    const headers = [
      ['connection', 'upgrade, close'],
      ['upgrade', 'websocket'],
    ] as const;
    expect(await send(anonymous, { path: '/info', headers })).toMatchObject({ status: 200 });
  });

  it('is served with the checks of other requests', async () => {
    const headers = [
      ['connection', 'upgrade, close'],
      ['upgrade', 'h2c'],
      ['origin', 'https://evil.test'],
    ] as const;
    expect(await send(anonymous, { method: 'POST', path: '/threads', headers, body: '{}' })).toMatchObject({
      status: 403,
    });
  });
});
