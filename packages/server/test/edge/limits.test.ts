import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { stopClock } from '../stopped-clock.ts';
import { openStream, send, type WireRequest, type WireResponse } from './wire.ts';

const key = 'first-key-0123456789-0123456789-01';
const other = 'second-key-0123456789-0123456789-0';
const apiKeys = `${key},${other}`;

const showing = (shown: string) => [['x-api-key', shown]] as const;

const sendMany = (server: TestServer, count: number, request: WireRequest): Promise<WireResponse[]> =>
  Promise.all(Array.from({ length: count }, () => send(server, request)));

const statuses = (answers: WireResponse[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

const info = { path: '/threads/x' };

describe('requests', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ executors: 'none', settings: { apiKeys, rateLimit: '1' } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('over the limit of a caller are rejected with Retry-After', async () => {
    using _ = stopClock();
    const answers = await sendMany(server, 15, { ...info, headers: showing(key) });
    expect(statuses(answers)).toEqual({ 422: 10, 429: 5 });
    const last = answers.find(({ status }) => status === 429);
    expect(last?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(JSON.parse(last?.body ?? '')).toMatchObject({ code: 'rate_limited' });
  });

  it('of another caller, and to public routes, are counted separately', async () => {
    using _ = stopClock();
    await sendMany(server, 15, { ...info, headers: showing(key) });
    expect((await send(server, { ...info, headers: showing(key) })).status).toBe(429);
    expect((await send(server, { ...info, headers: showing(other) })).status).toBe(422);
    expect(statuses(await sendMany(server, 30, { path: '/info', headers: showing(key) }))).toEqual({
      200: 30,
    });
  });
});

describe('requests without authentication', () => {
  it('from this machine are not counted', async () => {
    await using server = await startTestServer({ executors: 'none', settings: { rateLimit: '1' } });
    using _ = stopClock();
    expect(statuses(await sendMany(server, 15, info))).toEqual({ 422: 15 });
  });

  const from = (address: string): WireRequest => ({ ...info, headers: [['x-forwarded-for', address]] });

  it('from other machines are counted by address', async () => {
    await using server = await startTestServer({
      executors: 'none',
      settings: { rateLimit: '1', allowAnonymous: 'true', trustedProxies: '127.0.0.1' },
    });
    using _ = stopClock();
    expect(statuses(await sendMany(server, 15, from('203.0.113.5')))).toEqual({ 422: 10, 429: 5 });
    expect((await send(server, from('203.0.113.6'))).status).toBe(422);
    // Addresses that the client itself has added to the header are ignored.
    expect(statuses(await sendMany(server, 5, from('198.51.100.1, 203.0.113.5')))).toEqual({ 429: 5 });
  });

  it('through an unknown proxy count as from this machine, whatever the headers contain', async () => {
    await using server = await startTestServer({
      executors: 'none',
      settings: { rateLimit: '1', allowAnonymous: 'true' },
    });
    using _ = stopClock();
    expect(statuses(await sendMany(server, 15, from('203.0.113.5')))).toEqual({ 422: 15 });
  });
});

describe('failed authentications', () => {
  it('of one address are rejected before the key is checked, whatever address the headers name', async () => {
    await using server = await startTestServer({ executors: 'none', settings: { apiKeys } });
    const guess = (index: number) =>
      send(server, {
        ...info,
        headers: [...showing('wrong'), ['x-forwarded-for', `203.0.113.${index}`]],
      });
    using _ = stopClock();
    const answers = await Promise.all(Array.from({ length: 100 }, (_value, index) => guess(index)));
    expect(statuses(answers)).toEqual({ 401: 100 });
    const refused = await Promise.all([guess(0), guess(200)]);
    expect(statuses(refused)).toEqual({ 429: 2 });
    // The key is not checked.
    expect((await send(server, { ...info, headers: showing(key) })).status).toBe(429);
    expect(refused[0]?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect((await send(server, { path: '/info' })).status).toBe(200);
  });
});

describe('streams', () => {
  const waiting = { assistant_id: 'barrier', input: {} };
  const post = (path: string, shown: string, body: unknown = waiting): WireRequest => ({
    method: 'POST',
    path,
    headers: [...showing(shown), ['content-type', 'application/json']],
    body: JSON.stringify(body),
  });

  it('over the limit of a caller are rejected and create no run; closing one frees its slot', async () => {
    await using server = await startTestServer({
      executors: 'none',
      settings: { apiKeys, streamsPerCaller: '2' },
    });
    const { body } = await send(server, post('/threads', key, {}));
    const { thread_id } = JSON.parse(body) as { thread_id: string };
    const stream = await openStream(server, post('/runs/stream', key));
    const wait = await openStream(server, post('/runs/wait', key));
    expect([stream.status, wait.status]).toEqual([200, 200]);

    for (const path of ['/runs/stream', '/runs/wait', `/threads/${thread_id}/runs/stream`]) {
      const refused = await send(server, post(path, key));
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
      expect(JSON.parse(refused.body)).toMatchObject({
        code: 'rate_limited',
        message: expect.stringContaining('2 streams'),
      });
    }
    const runs = await send(server, { path: `/threads/${thread_id}/runs`, headers: showing(key) });
    expect(JSON.parse(runs.body)).toEqual([]);
    const others = await openStream(server, post('/runs/stream', other));
    expect(others.status).toBe(200);

    wait.socket.destroy();
    await eventually(async () => {
      const again = await openStream(server, post('/runs/stream', key));
      again.socket.destroy();
      expect(again.status).toBe(200);
    });
    for (const { socket } of [stream, others]) socket.destroy();
  });

  it('that failed or ended at once do not count', async () => {
    await using server = await startTestServer({ settings: { apiKeys, streamsPerCaller: '1' } });
    const chat = { assistant_id: 'chat', input: { messages: [] } };
    for (let round = 0; round < 3; round++) {
      expect((await send(server, post('/runs/stream', key, { assistant_id: 'unknown' }))).status).toBe(404);
      expect((await send(server, post('/runs/stream', key, {}))).status).toBe(422);
      expect((await send(server, post('/runs/wait', key, chat))).status).toBe(200);
      await eventually(async () =>
        expect((await send(server, post('/runs/stream', key, chat))).status).toBe(200),
      );
    }
  });

  it('over the limit of the server are rejected for every caller', async () => {
    await using server = await startTestServer({ executors: 'none', settings: { streamsMax: 1 } });
    const open = await openStream(server, post('/runs/stream', ''));
    const refused = await send(server, post('/runs/stream', ''));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect((await send(server, { path: '/threads/x' })).status).toBe(422);
    open.socket.destroy();
  });
});
