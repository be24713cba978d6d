import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Hono } from 'hono';
import { listen } from './listen.ts';
import { until } from '../../../test/eventually.ts';
import { deferred, startTestApp, testEventSource } from '../../../test/http-app.ts';

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

/** Reads a response to its end. */
const readToEnd = ({ body }: Response): { text: () => string; isBroken: Promise<boolean> } => {
  let text = '';
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>)
      text += decoder.decode(chunk, { stream: true });
  };
  return {
    text: () => text,
    isBroken: read().then(
      () => false,
      () => true,
    ),
  };
};

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

  it.each([
    [
      'Last-Event-ID',
      /Open the stream again, at the Location of this response if it has one, with Last-Event-ID: 7\./,
    ],
    ['since', /Send the request again with since: the seq of the last event\./],
  ] as const)(
    'sends a last event to a stream that exceeds the grace period, for %s',
    async (resumption, message) => {
      const { stream, sink, stopped } = testEventSource(resumption);
      const app = await startTestApp({ watch: () => stream }, { graceMs: 10 });
      const response = await fetch(`${app.url}/watch`);
      (await sink).send({ id: '7', event: 'values', data: '{}' });
      const { text, isBroken } = readToEnd(response);
      await Promise.all([app.close(), stopped]);
      expect(await isBroken).toBe(true);
      const [last = ''] = text().split('\n\n').slice(-2);
      const [event, data = ''] = last.split('\n');
      expect(event).toBe('event: reconnect');
      expect(JSON.parse(data.slice('data: '.length))).toEqual({
        message: expect.stringMatching(message) as string,
        last_event_id: '7',
      });
    },
  );

  it('sends no last event where the protocol has none', async () => {
    const { stream, sink } = testEventSource('none');
    const app = await startTestApp({ watch: () => stream }, { graceMs: 10 });
    const response = await fetch(`${app.url}/watch`);
    (await sink).send({ event: 'message', data: '{}' });
    const { text, isBroken } = readToEnd(response);
    await app.close();
    expect(await isBroken).toBe(true);
    expect(text()).not.toContain('reconnect');
  });

  it('does not wait for a client that reads nothing', async () => {
    const { stream, sink, stopped } = testEventSource();
    const app = await startTestApp({ watch: () => stream }, { graceMs: 10 });
    const socket = connect(app.port, app.host).on('error', () => undefined);
    socket.pause();
    socket.write('GET /watch HTTP/1.1\r\nhost: x\r\n\r\n');
    const data = JSON.stringify('x'.repeat(100_000));
    const { send } = await sink.then((given) => ({ send: () => given.send({ id: '1', event: 'e', data }) }));
    await until(() => !send());
    await Promise.all([app.close(), stopped]);
    socket.destroy();
  });
});
