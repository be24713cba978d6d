import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Problem } from '@svc/contract/problem';
import { DeferredResponse, Reply } from '../../api/handlers.ts';
import { deferred, startTestApp, ways } from '../../../test/http-app.ts';

const wait = (app: { url: string }) => fetch(`${app.url}/runs/wait`, { method: 'POST' });

describe.each(ways)('a deferred response$way', ({ customApp }) => {
  const start: typeof startTestApp = (handlers, options) => startTestApp(handlers, { ...options, customApp });

  it('that resolves soon is an ordinary one', async () => {
    const reply = new Reply(new DeferredResponse(Promise.resolve('{"a":1}')), {
      continuation: '/threads/1/runs/2/join',
    });
    await using app = await start({ wait: () => reply });
    const response = await wait(app);
    expect(await response.text()).toBe('{"a":1}');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': '7',
      'content-type': 'application/json',
      location: '/threads/1/runs/2/join',
    });
  });

  it('that resolves later sends its head first and is still JSON', async () => {
    const text = deferred<string>();
    await using app = await start(
      { wait: () => new Reply(new DeferredResponse(text.promise), { continuation: '/x' }) },
      { deferredMs: 5 },
    );
    const response = await wait(app);
    expect([response.status, response.headers.get('location')]).toStrictEqual([200, '/x']);
    let read = '';
    for await (const chunk of response.body ?? []) {
      read += Buffer.from(chunk as Uint8Array).toString();
      if (read.length >= 3) text.resolve('{"a":1}');
    }
    expect(read).toMatch(/^\n{3,}\{"a":1\}$/);
  });

  it('that fails soon has an error status', async () => {
    await using app = await start({
      wait: () => new DeferredResponse(Promise.reject(new Problem('conflict', 'The run was rejected.'))),
    });
    expect((await wait(app)).status).toBe(409);
  });

  it.each([
    [
      new Problem('timeout', 'The run took too long.'),
      { error: 'timeout', message: 'The run took too long.' },
    ],
    [
      new Error('secret'),
      { error: 'internal', message: 'Internal server error; see the log of the server.' },
    ],
  ])('that fails after its head has the error in its body: %s', async (error, expected) => {
    const text = deferred<string>();
    await using app = await start({ wait: () => new DeferredResponse(text.promise) }, { deferredMs: 5 });
    const response = await wait(app);
    text.reject(error);
    expect(await response.json()).toStrictEqual({ __error__: expected });
  });

  it('whose client has disconnected is dropped, and the server keeps serving', async () => {
    const text = deferred<string>();
    const left = deferred<void>();
    const arrived = deferred<void>();
    await using app = await start(
      {
        wait: (_, call) => {
          call.signal.addEventListener('abort', () => left.resolve());
          arrived.resolve();
          return new DeferredResponse(text.promise);
        },
      },
      { deferredMs: 5 },
    );
    const socket = connect(app.port, app.host);
    socket.write('POST /runs/wait HTTP/1.1\r\nhost: x\r\n\r\n');
    await arrived.promise;
    await once(socket, 'data');
    socket.destroy();
    await left.promise;
    text.resolve('{}');
    expect((await fetch(`${app.url}/raw`)).status).toBe(200);
  });
});
