// The command's checks against servers of ours, and against the same servers behind a proxy that breaks one thing.
import { createServer, type IncomingMessage, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { serveHttp } from '../../server/test/serve-http.ts';
import { startTestServer, type TestServer } from '../../server/test/server.ts';
import { scaled } from '../../server/test/speed.ts';
import {
  areas,
  type ConformanceOptions,
  type ConformanceReport,
  runConformance,
  ServerNotReached,
} from '../src/index.ts';

const graphs = (file: string): string => fileURLToPath(new URL(`../graphs/${file}`, import.meta.url));

let open: TestServer;
let guarded: TestServer;
beforeAll(async () => {
  open = await startTestServer({ project: graphs('svc.json') });
  guarded = await startTestServer({ project: graphs('svc.auth.json') });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
});

const users = {
  headers: { authorization: 'Bearer ann' },
  secondHeaders: { authorization: 'Bearer bob' },
};

const tryServer = (options: ConformanceOptions): Promise<ConformanceReport> =>
  runConformance({ timeoutMs: scaled(60_000), ...options });

const reasonsOf = ({ results }: ConformanceReport, outcome: string): string[] =>
  results
    .filter((result) => result.outcome === outcome)
    .map(({ area, title, reason }) => `${area}: ${title}: ${reason}`);

interface Break {
  header?: (name: string) => boolean;
  request?: (headers: Record<string, string>) => Record<string, string>;
  body?: (text: string) => string;
}

/** A proxy that changes requests and responses. */
const proxyTo = (url: string, { header, request, body }: Break) =>
  serveHttp((incoming, out) => {
    const forward = async (): Promise<void> => {
      const sent = await textOf(incoming);
      const given = Object.fromEntries(
        Object.entries(incoming.headers).filter(([name]) =>
          ['accept', 'authorization', 'content-type', 'last-event-id'].includes(name),
        ),
      ) as Record<string, string>;
      const response = await fetch(url + incoming.url, {
        method: incoming.method ?? 'GET',
        headers: request?.(given) ?? given,
        ...(sent === '' ? {} : { body: sent }),
      });
      const headers = [...response.headers].filter(
        ([name]) =>
          !['content-length', 'connection', 'keep-alive', 'transfer-encoding'].includes(name) &&
          !header?.(name),
      );
      out.writeHead(response.status, Object.fromEntries(headers));
      for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
        out.write(body?.(text) ?? text);
      out.end();
    };
    forward().catch(() => out.destroy());
  });

/** A proxy that changes or drops messages of the server over WebSockets. */
const socketProxyTo = async (url: string, change: (text: string) => string | undefined) => {
  const { origin } = new URL(url);
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer((incoming, out) => {
    const { method, headers } = incoming;
    const forwarded = request(origin + incoming.url, { method, headers }, (response) => {
      out.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(out);
    });
    forwarded.on('error', () => out.destroy());
    out.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.on('upgrade', (incoming, socket, head) => {
    sockets.handleUpgrade(incoming, socket, head, (client) => {
      const upstream = new WebSocket(origin.replace('http', 'ws') + incoming.url);
      const sent: { data: Buffer; binary: boolean }[] = [];
      client.on('message', (data: Buffer, binary) => {
        if (upstream.readyState === WebSocket.OPEN) upstream.send(data, { binary });
        else sent.push({ data, binary });
      });
      upstream.on('open', () => {
        for (const { data, binary } of sent) upstream.send(data, { binary });
      });
      upstream.on('message', (data: Buffer) => {
        const text = change(data.toString());
        if (text !== undefined) client.send(text);
      });
      for (const one of [client, upstream]) {
        const other = one === client ? upstream : client;
        one.on('error', () => other.terminate());
        one.on('close', () => other.terminate());
      }
    });
  });
  return serveHttp(server);
};

const textOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const part of incoming) text += String(part);
  return text;
};

describe('a server of ours', () => {
  it('passes every check except those that need users', async () => {
    const seen: string[] = [];
    const report = await tryServer({
      url: `${open.url}/`,
      onResult: ({ area }) => void seen.push(area),
    });
    expect(reasonsOf(report, 'failed')).toEqual([]);
    expect(new Set(reasonsOf(report, 'not tried').map((text) => text.split(':')[0]))).toEqual(
      new Set(['access', 'websocket']),
    );
    expect(reasonsOf(report, 'not tried').every((text) => /needs --(second-)?header/.test(text))).toBe(true);
    expect(report).toMatchObject({ passed: true, url: open.url });
    expect(new Set(seen)).toEqual(new Set(areas));
    expect(report.counts.passed).toBeGreaterThan(70);
    // The checks leave no threads.
    expect((await open.call('POST', '/threads/search', {})).body).toEqual([]);
  });

  it('passes every check with two users', async () => {
    const report = await tryServer({ url: guarded.url, ...users });
    expect(reasonsOf(report, 'failed')).toEqual([]);
    expect(reasonsOf(report, 'not tried')).toEqual([]);
    expect(report.passed).toBe(true);
  });
});

describe('a broken server', () => {
  const cases: [string, string[], Break, RegExp][] = [
    [
      'without the header Content-Location',
      ['streams'],
      { header: (name) => name === 'content-location' },
      /Content-Location/,
    ],
    [
      'with another name for a status',
      ['runs'],
      { body: (text) => text.replaceAll('"status":"success"', '"status":"done"') },
      /status to be success, got done/,
    ],
    [
      'without ids of events',
      ['streams'],
      { body: (text) => text.replaceAll(/^id: .*\n/gm, '') },
      /distinct ids of events/,
    ],
    [
      'without complete messages',
      ['streams'],
      { body: (text) => text.replaceAll('event: messages/complete', 'event: messages/whole') },
      /the complete message to be/,
    ],
    ['without the code of errors', ['a2a'], { body: (text) => text.replace('-32001', '-32000') }, /-32001/],
    [
      'that takes every user for the first one',
      ['access'],
      { request: (headers) => ('authorization' in headers ? { ...headers, ...users.headers } : headers) },
      /another user|401/,
    ],
  ];

  it.each(cases)('%s fails', async (_, only, broken, reason) => {
    await using proxy = await proxyTo(guarded.url, broken);
    const report = await tryServer({ url: proxy.url, ...users, only: only as never });
    expect(report.passed).toBe(false);
    expect(reasonsOf(report, 'failed').join('\n')).toMatch(reason);
  });

  it('without an area passes, unless the area is named', async () => {
    await using small = await startTestServer({ project: graphs('svc.small.json') });
    const report = await tryServer({ url: small.url });
    expect(reasonsOf(report, 'failed')).toEqual([]);
    expect(report.passed).toBe(true);
    expect(new Set(reasonsOf(report, 'not tried').map((text) => text.split(':')[0]))).toEqual(
      new Set(['access', 'websocket', 'store', 'mcp', 'a2a']),
    );
    for (const area of ['store', 'mcp', 'a2a'] as const) {
      const named = await tryServer({ url: small.url, only: [area] });
      expect(named).toMatchObject({ passed: false, counts: { passed: 0, 'not tried': 0 } });
    }
  });

  it('without WebSockets passes, unless they are named', async () => {
    // The proxy passes no upgrade on.
    await using proxy = await proxyTo(open.url, {});
    const report = await tryServer({ url: proxy.url });
    expect(reasonsOf(report, 'failed')).toEqual([]);
    const reasons = reasonsOf(report, 'not tried').filter((text) => text.startsWith('websocket'));
    expect(reasons).toHaveLength(12);
    for (const reason of reasons)
      expect(reason).toMatch(/the server has no WebSocket of thread protocol v2: its handshake gets 426/);
    const named = await tryServer({ url: proxy.url, only: ['websocket'] });
    expect(named).toMatchObject({ passed: false, counts: { passed: 0 } });
  });

  it.each<[string, (text: string) => string | undefined, RegExp]>([
    [
      'other event ids over WebSockets',
      (text) => text.replaceAll('"event_id":"', '"event_id":"x'),
      /event ids/,
    ],
    [
      'no response to malformed messages',
      (text) => (text.includes('"id":null') ? undefined : text),
      /aborted/,
    ],
    ['other codes of errors', (text) => text.replace('unknown_command', 'unknown'), /unknown_command/],
  ])('with %s fails', async (_, change, reason) => {
    await using proxy = await socketProxyTo(open.url, change);
    const report = await tryServer({ url: proxy.url, only: ['websocket'], timeoutMs: scaled(10_000) });
    expect(reasonsOf(report, 'failed').join('\n')).toMatch(reason);
  });

  it('without an answer throws ServerNotReached', async () => {
    const { url } = await (async () => {
      await using proxy = await proxyTo(open.url, {});
      return { url: proxy.url };
    })();
    await expect(tryServer({ url })).rejects.toThrow(ServerNotReached);
  });

  it('does not pass when nothing could be tried', async () => {
    const report = await tryServer({ url: open.url, only: ['access'] });
    expect(report).toMatchObject({ passed: false, counts: { passed: 0, failed: 0 } });
  });
});
