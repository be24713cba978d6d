import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Problem } from '@svc/contract/problem';
import { EventStreamResponse, Reply, type StreamEvent } from '../../api/handlers.ts';
import { Hono } from 'hono';
import { eventually } from '../../../test/eventually.ts';
import { createParsing } from '../../parsing/parsing.ts';
import type { UserApp } from '../custom-app/user-app.ts';
import { createApp } from '../server/app.ts';
import { toFrame } from './sse.ts';
import {
  openSurface,
  deferred,
  startTestApp,
  type TestApp,
  testEventSource,
  testRoutes,
  ways,
} from '../../../test/http-app.ts';

const event = (id: number, data: unknown = id): StreamEvent => ({
  id: String(id),
  event: 'values',
  data: JSON.stringify(data),
});

/** A client that can stop reading, with what it has read so far. */
const watch = async (app: TestApp): Promise<{ socket: Socket; until: (text: string) => Promise<string> }> => {
  const socket = connect(app.port, app.host);
  await once(socket, 'connect');
  socket.write('GET /watch HTTP/1.1\r\nhost: x\r\n\r\n');
  let read = '';
  const until = async (text: string): Promise<string> => {
    while (!read.includes(text)) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      read += chunk.toString();
    }
    return read;
  };
  return { socket, until };
};

describe.each(ways)('a stream of events$way', ({ customApp }) => {
  const start: typeof startTestApp = (handlers, options) => startTestApp(handlers, { ...options, customApp });

  it('is framed in order, with the headers of a stream', async () => {
    await using app = await start({
      stream: async function* () {
        yield { event: 'metadata', data: '{"run_id":"r"}' };
        yield event(1);
        yield event(2, 'end\u2028');
      } as never,
    });
    const response = await fetch(`${app.url}/runs/stream`, { method: 'POST' });
    expect(await response.text()).toBe(
      'event: metadata\ndata: {"run_id":"r"}\n\nid: 1\nevent: values\ndata: 1\n\nid: 2\nevent: values\ndata: "end\u2028"\n\n',
    );
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    expect(app.lines).toMatchObject([{ msg: 'request', route: '/runs/stream', status: 200 }]);
  });

  it('keeps each frame intact, whatever its parts contain', () => {
    expect(toFrame({ id: '1\n2', event: 'values|a\r\nid: 9', data: '{\n"a": 1\n}' })).toBe(
      'id: 1 2\nevent: values|a id: 9\ndata: { "a": 1 }\n\n',
    );
  });

  it('sends its head before its first event, with the headers of the reply', async () => {
    const { stream, sink } = testEventSource();
    await using app = await start({
      watch: () => new Reply(stream, { continuation: '/runs/1/stream' }),
    });
    const response = await fetch(`${app.url}/watch`);
    expect(response.headers.get('location')).toBe('/runs/1/stream');
    (await sink).end();
    expect(await response.text()).toBe('');
  });

  it('sends heartbeats of one line, with no blank line after them', async () => {
    const { stream, sink } = testEventSource();
    await using app = await start({ watch: () => stream }, { heartbeatMs: 10 });
    const client = await watch(app);
    await client.until(': heartbeat\n');
    const source = await sink;
    source.send(event(0));
    source.end();
    const body = (await client.until('\r\n0\r\n\r\n')).split('\r\n\r\n').slice(1).join('\r\n\r\n');
    const lines = body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, '');
    expect(lines).toMatch(/^(: heartbeat\n)+id: 0\nevent: values\ndata: 0\n\n/);
    client.socket.destroy();
  });

  it.each([
    [new Problem('not_found', 'The run is gone.'), { error: 'not_found', message: 'The run is gone.' }],
    [
      new Error('secret'),
      { error: 'internal', message: 'Internal server error; see the log of the server.' },
    ],
  ])('ends with an error event when its source fails: %s', async (error, expected) => {
    await using app = await start({
      watch: async function* () {
        yield event(1);
        throw error;
      } as never,
    });
    expect(await (await fetch(`${app.url}/watch`)).text()).toBe(
      `id: 1\nevent: values\ndata: 1\n\nevent: error\ndata: ${JSON.stringify(expected)}\n\n`,
    );
  });

  it('that fails before it starts has a status', async () => {
    await using app = await start({ watch: () => Promise.reject(new Problem('not_found', 'no run')) });
    expect((await fetch(`${app.url}/watch`)).status).toBe(404);
  });

  it.each([
    ['Last-Event-ID', 'reconnect', true],
    ['since', 'reconnect', true],
    ['none', 'error', false],
  ] as const)('continued by %s ends with %s in an outage of the database', async (by, last, isCut) => {
    const { stream, sink } = testEventSource(by);
    await using app = await start({ watch: () => stream });
    const { body } = await fetch(`${app.url}/watch`);
    const source = await sink;
    source.send(event(7));
    source.fail(new Problem('unavailable', 'The database cannot be reached', { cause: new Error('gone') }));
    let text = '';
    let isBroken = false;
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) text += decoder.decode(chunk);
    } catch {
      isBroken = true;
    }
    expect(text.match(/^event: .*$/gm)).toEqual(['event: values', `event: ${last}`]);
    expect(text).toContain('The database cannot be reached');
    expect(isBroken).toBe(isCut);
  });

  it('stops its source and aborts the signal when the client disconnects', async () => {
    const { stream, sink, stopped } = testEventSource();
    const left = deferred<void>();
    await using app = await start({
      watch: (_, call) => {
        call.signal.addEventListener('abort', () => left.resolve());
        return stream;
      },
    });
    const { socket } = await watch(app);
    const source = await sink;
    socket.destroy();
    await Promise.all([stopped, left.promise]);
    expect(source.send(event(1))).toBe(true);
  });

  it('returns its iterator when the client disconnects', async () => {
    const returned = deferred<void>();
    const events = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: () => {
          returned.resolve();
          return Promise.resolve({ done: true as const, value: undefined });
        },
      }),
    };
    await using app = await start({ watch: () => events });
    const { socket } = await watch(app);
    await once(socket, 'data');
    socket.destroy();
    await returned.promise;
  });

  it('stops a source that starts after the client has disconnected', async () => {
    const aborted = deferred<void>();
    const arrived = deferred<void>();
    const { stream, stopped } = testEventSource();
    await using app = await start({
      watch: async (_, call) => {
        const abort = once(call.signal, 'abort');
        arrived.resolve();
        await abort;
        aborted.resolve();
        return stream;
      },
    });
    const { socket } = await watch(app);
    await arrived.promise;
    socket.destroy();
    await aborted.promise;
    await stopped;
  });

  it('disconnects a client that does not read when its buffer is full', async () => {
    const { stream, sink, stopped } = testEventSource();
    await using app = await start({ watch: () => stream }, { streamBufferBytes: 100_000 });
    const { socket, until } = await watch(app);
    await until('\r\n\r\n');
    socket.pause();
    const source = await sink;
    let open = true;
    void stopped.then(() => {
      open = false;
    });
    const text = 'x'.repeat(50_000);
    let sent = 0;
    // The kernel buffers some megabytes before anything waits in this process.
    for (; open && sent < 2000; sent++) {
      source.send(event(sent, text));
      await new Promise(setImmediate);
    }
    expect(sent).toBeLessThan(2000);
    expect(app.lines.map(({ msg }) => msg)).toContain('stream client too slow');
    socket.destroy();
  });

  it('keeps a client whose single event or replay is larger than the buffer', async () => {
    const large = 'x'.repeat(5_000_000);
    const { stream, sink } = testEventSource();
    await using app = await start({ watch: () => stream }, { streamBufferBytes: 1000 });
    const response = await fetch(`${app.url}/watch`);
    const source = await sink;
    for (let id = 0; id < 3; id++) source.send(event(id, large));
    await new Promise(setImmediate);
    source.send(event(3));
    source.end();
    expect((await response.text()).match(/^id: \d+$/gm)).toHaveLength(4);
  });

  it('waits for a slow client, and loses nothing', async () => {
    const count = 300;
    const text = 'x'.repeat(50_000);
    await using app = await start(
      {
        watch: async function* () {
          for (let id = 0; id < count; id++) yield event(id, text);
        } as never,
      },
      { streamBufferBytes: 200_000 },
    );
    const response = await fetch(`${app.url}/watch`);
    const body = await response.text();
    expect(body.match(/^id: \d+$/gm)).toHaveLength(count);
    expect(app.lines.map(({ msg }) => msg)).toStrictEqual(['request']);
  });

  it('sends the events of one turn in one write', async () => {
    const { stream, sink } = testEventSource();
    await using app = await start({ watch: () => stream });
    const { socket, until } = await watch(app);
    await until('\r\n\r\n');
    const source = await sink;
    for (let id = 0; id < 20; id++) source.send(event(id));
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString().match(/^id: /gm)).toHaveLength(20);
    source.end();
    socket.destroy();
  });

  it('works without a socket', async () => {
    const source = new EventStreamResponse((sink) => {
      sink.send(event(1));
      return Promise.resolve();
    });
    const handlers = Object.fromEntries(Object.keys(testRoutes).map((name) => [name, () => source])) as never;
    const logger = { debug: () => undefined, info: () => undefined, error: () => undefined };
    const parsing = createParsing(1_000_000, { warn: () => undefined });
    const app = createApp({ surfaces: [openSurface(testRoutes, handlers)], logger, parsing });
    const response = await app.request('/watch');
    expect(await response.text()).toBe('id: 1\nevent: values\ndata: 1\n\n');
  });
});

describe('a stream of events whose response middleware drops', () => {
  it.each(['throws', 'answers otherwise'])('is stopped when the middleware %s', async (what) => {
    const { stream, stopped } = testEventSource();
    const customApp = new Hono().use(async (context, next) => {
      await next();
      if (what === 'throws') throw new Error('no');
      context.res = new Response('other', { status: 418 });
    }) as unknown as UserApp;
    await using app = await startTestApp({ watch: () => stream }, { customApp });
    const response = await fetch(`${app.url}/watch`);
    expect(response.status).toBe(what === 'throws' ? 500 : 418);
    await response.text();
    await stopped;
    await eventually(() =>
      expect(app.lines.find(({ msg }) => msg === 'request')).toMatchObject({
        route: '/watch',
        status: response.status,
      }),
    );
  });
});
