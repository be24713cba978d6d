import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { scaled } from '../../test/speed.ts';
import { EgressGuard, EgressRefused } from './guard.ts';
import { guardedFetch } from './guarded-fetch.ts';

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

const limits = { timeoutMs: scaled(5_000), responseBytesMax: 1_000 };
const fetchHere = guardedFetch(new EgressGuard(), { loopback: true }, limits);

describe('a guarded fetch', () => {
  it('sends method, headers and body, and returns status, headers and body', async () => {
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response
          .writeHead(201, { 'x-sent': `${request.method} ${String(request.headers['x-mine'])}` })
          .end(body);
      });
    });
    const response = await fetchHere(url, {
      method: 'POST',
      headers: { 'x-mine': '1' },
      body: new URLSearchParams({ code: 'é' }),
    });
    expect([response.status, response.headers.get('x-sent'), await response.text()]).toEqual([
      201,
      'POST 1',
      'code=%C3%A9',
    ]);
  });

  it('returns a response without a body', async () => {
    const url = await serve((_, response) => void response.writeHead(204).end());
    expect((await fetchHere(url)).status).toBe(204);
  });

  it('follows no redirect', async () => {
    const url = await serve((_, response) => void response.writeHead(302, { location: '/other' }).end());
    expect((await fetchHere(url)).status).toBe(302);
  });

  it('refuses what the guard refuses', async () => {
    const fetchOut = guardedFetch(new EgressGuard(), {}, limits);
    for (const url of [
      'http://127.0.0.1/',
      'http://10.0.0.1/',
      'http://169.254.169.254/',
      'ftp://example.com/',
    ])
      await expect(fetchOut(url)).rejects.toThrow(EgressRefused);
  });

  it('stops reading a body that is too long', async () => {
    const url = await serve((_, response) => void response.end('x'.repeat(1_001)));
    await expect(fetchHere(url)).rejects.toThrow();
  });

  it('does not wait longer than its limit', async () => {
    const url = await serve((_, response) => void response.write('begun'));
    const brief = guardedFetch(new EgressGuard(), { loopback: true }, { ...limits, timeoutMs: 100 });
    await expect(brief(url)).rejects.toThrow(/timeout/i);
  });

  it('stops when its caller does', async () => {
    const stop = new AbortController();
    const url = await serve((_, response) => {
      response.write('begun');
      stop.abort(new Error('enough'));
    });
    await expect(fetchHere(url, { signal: stop.signal })).rejects.toThrow('enough');
  });
});
