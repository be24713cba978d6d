// Requests of a program that contains the server, as Fetch API Requests.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import type { UserApp } from '../custom-app/user-app.ts';
import { type BuiltTestApp, buildTestApp, testEventSource, ways } from '../../../test/http-app.ts';
import { embed, type EmbeddedOptions } from './embedded.ts';

const failingDownload = (): Response => {
  const chunks = ['half'];
  return new Response(
    new ReadableStream({
      pull(controller) {
        const chunk = chunks.shift();
        if (chunk === undefined) controller.error(new Error('upstream is gone'));
        else controller.enqueue(Buffer.from(chunk));
      },
    }),
  );
};

const open = (
  build: BuiltTestApp,
  guard: EmbeddedOptions['guard'] = {},
): ((path: string, init?: RequestInit) => Promise<Response>) => {
  const { app, logger } = build;
  const { fetch } = embed({ app, prefix: '', guard, logger });
  return (path, init) => fetch(new Request(`http://app.example${path}`, init));
};

const asUser = (app: Hono): UserApp => app as unknown as UserApp;

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const requestsOf = ({ lines }: BuiltTestApp) => lines.filter(({ msg }) => msg === 'request');

/** A response with headers that cannot be changed, as those of fetch(). */
const proxied = async (init: ResponseInit): Promise<Response> => {
  const upstream = createServer((_request, response) => {
    response.writeHead(init.status ?? 200, init.headers as Record<string, string>).end();
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  try {
    return await globalThis.fetch(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
  } finally {
    upstream.close();
  }
};

const origin = 'https://page.example';
const forOrigin: EmbeddedOptions['guard'] = {
  cors: {
    origins: new Set([origin]),
    originPattern: undefined,
    methods: ['GET', 'POST'],
    headers: undefined,
    exposed: [],
    credentials: false,
    maxAgeSeconds: 600,
  },
};

describe('a response to a containing program', () => {
  it('may be one of fetch()', async () => {
    const upstream = { status: 204, headers: { 'x-request-id': 'upstream', 'x-own': 'yes' } };
    const app = new Hono().get('/proxied', () => proxied(upstream));
    await using built = buildTestApp({}, { customApp: asUser(app) });
    const { status, headers } = await open(built)('/proxied', { headers: { 'x-request-id': 'mine' } });
    expect({ status, id: headers.get('x-request-id'), own: headers.get('x-own') }).toEqual({
      status: 204,
      id: 'mine',
      own: 'yes',
    });
  });

  it('varies by the origin, besides what a custom route names', async () => {
    const app = new Hono().get('/varying', (context) => context.text('', 200, { vary: 'Accept-Language' }));
    await using built = buildTestApp({}, { customApp: asUser(app) });
    const call = open(built, forOrigin);
    expect((await call('/varying')).headers.get('vary')).toBe('Accept-Language, Origin');
    expect((await call('/raw')).headers.get('vary')).toBe('Origin');
    const preflight = await call('/raw', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers.get('vary')).toBe('Origin, Access-Control-Request-Headers');
  });

  it('varies by what the program and the server name, over Node', async () => {
    const app = new Hono().get('/varying', (context) => context.text('', 200, { vary: 'Accept-Language' }));
    await using built = buildTestApp({}, { customApp: asUser(app) });
    const { node } = embed({ app: built.app, prefix: '', guard: forOrigin, logger: built.logger });
    const program = createServer((request, response) => {
      response.setHeader('vary', 'Accept-Encoding');
      node(request, response);
    }).listen(0, '127.0.0.1');
    await once(program, 'listening');
    const url = `http://127.0.0.1:${(program.address() as AddressInfo).port}`;
    const varyOf = async (path: string, init?: RequestInit) =>
      (await globalThis.fetch(url + path, init)).headers.get('vary');
    expect(await varyOf('/varying')).toBe('Accept-Encoding, Origin, Accept-Language');
    expect(await varyOf('/raw')).toBe('Accept-Encoding, Origin');
    expect(await varyOf('/no//path')).toBe('Accept-Encoding, Origin');
    program.closeAllConnections();
    program.close();
  });

  it('fails when the body of a custom route fails', async () => {
    await using built = buildTestApp(
      {},
      { customApp: asUser(new Hono().get('/download', () => failingDownload())) },
    );
    const response = await open(built)('/download');
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow('upstream is gone');
    expect(built.lines).toMatchObject([
      { msg: 'request', route: '/download', status: 200 },
      { msg: 'a response of http.app failed while it was sent' },
    ]);
  });

  it.each(ways)('fails when it is a stream that is read too slowly$way', async ({ customApp }) => {
    const { stream, sink } = testEventSource();
    await using built = buildTestApp({ watch: () => stream }, { customApp, heartbeatMs: 5 });
    const response = await open(built)('/watch');
    const writer = await sink;
    await eventually(() => {
      writer.send({ event: 'values', data: 'x'.repeat(500_000) });
      expect(built.lines.map(({ msg }) => msg)).toContain('stream client too slow');
    });
    await expect(response.text()).rejects.toThrow();
  });

  it.each(ways)('is logged once when its reader cancels it$way', async ({ customApp }) => {
    const { stream, sink, stopped } = testEventSource();
    const observed: string[] = [];
    const observe = (_method: string, route: string) => void observed.push(route);
    await using built = buildTestApp({ watch: () => stream }, { customApp, observe });
    const response = await open(built)('/watch');
    (await sink).send({ event: 'values', data: '1' });
    const reader = response.body?.getReader();
    await reader?.read();
    const waiting = reader?.read();
    // The source is read in this turn.
    await turn();
    await reader?.cancel();
    await Promise.all([waiting, stopped]);
    await eventually(() => expect(requestsOf(built).length).toBeGreaterThan(0));
    await turn();
    expect(requestsOf(built)).toMatchObject([{ route: '/watch', status: 200 }]);
    expect(observed).toEqual(['/watch']);
  });
});
