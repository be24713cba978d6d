import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Hono } from 'hono';
import { listen } from './listen.ts';
import { deferred, startTestApp, testEventSource } from '../test-app.ts';

const logger = { debug: () => undefined, info: () => undefined, error: () => undefined };

describe('listening', () => {
  it('on a port in use fails with a remedy', async () => {
    await using app = await startTestApp();
    const second = listen(new Hono(), { host: '127.0.0.1', port: app.port, logger });
    await expect(second).rejects.toThrow(
      `Port ${app.port} on 127.0.0.1 is in use; stop the program that uses it, or choose another port with --port.`,
    );
  });

  it('on an address of another machine fails with a message', async () => {
    await expect(listen(new Hono(), { host: '192.0.2.1', port: 0, logger })).rejects.toThrow(
      'This machine has no address 192.0.2.1; choose another with --host.',
    );
  });
});

describe('closing', () => {
  it('finishes an open response and accepts no new one', async () => {
    const answer = deferred<string>();
    const arrived = deferred<void>();
    const app = await startTestApp(
      {
        raw: () => {
          arrived.resolve();
          return answer.promise;
        },
      },
      { graceMs: 10_000 },
    );
    const pending = fetch(`${app.url}/raw`);
    await arrived.promise;
    const closed = app.close();
    await expect(fetch(`${app.url}/raw`)).rejects.toThrow('fetch failed');
    answer.resolve('done');
    expect(await (await pending).json()).toBe('done');
    await closed;
  });

  it('disconnects a stream that exceeds the grace period', async () => {
    const { stream, sink, stopped } = testEventSource();
    const app = await startTestApp({ watch: () => stream }, { graceMs: 10 });
    const socket = connect(app.port, app.host).on('error', () => undefined);
    const closedByServer = once(socket, 'close');
    socket.resume();
    socket.write('GET /watch HTTP/1.1\r\nhost: x\r\n\r\n');
    await sink;
    await Promise.all([app.close(), stopped, closedByServer]);
  });
});
