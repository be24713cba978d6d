// The memory that is held for messages while they arrive.
import { on, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Call } from '../../api/handlers.ts';
import { SocketResponse } from '../../api/sockets.ts';
import { requestLimits } from '../../json/json-limits.ts';
import { createParsing } from '../../parsing/parsing.ts';
import { Upgrades } from './upgrades.ts';

const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A client of a server that answers each message with the memory that is held while the message is handled. */
const connect = async () => {
  const parsing = createParsing(67_108_864, logger);
  const upgrades = new Upgrades({
    isSocketUrl: () => true,
    messageBytesMax: 5_000_000,
    heartbeatMs: 60_000,
    bufferBytesMax: 1_048_576,
    json: requestLimits,
    parsing,
  });
  const echo = new SocketResponse((peer) => ({
    receive: async () => void peer.send(String(parsing.memory.used)),
    receiveFault: () => undefined,
    stop: () => undefined,
  }));
  const renew = (): Promise<Call> => Promise.reject(new Error('Not used'));
  const server = createServer();
  upgrades.listen(server, (_, outgoing) =>
    upgrades.accept(outgoing, echo, { requestId: 'test', logger, renew }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const ws = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(async () => {
    ws.terminate();
    upgrades.terminate();
    server.close();
    await parsing.parser[Symbol.asyncDispose]();
  });
  await once(ws, 'open');
  return {
    ws,
    memory: parsing.memory,
    /** Resolves when the server has read what was sent before. */
    read: async () => {
      ws.ping('read');
      for await (const [data] of on(ws, 'pong')) if (String(data) === 'read') return;
    },
    /** Memory that is held for the message that was sent. */
    held: async () => {
      const [text] = (await once(ws, 'message')) as [Buffer];
      return Number(text.toString());
    },
  };
};

const json = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));

it.each(['ping', 'pong'] as const)('a %s is no part of a message', async (frame) => {
  const { ws, memory, read } = await connect();
  for (let at = 0; at < 600; at++) {
    ws[frame]('x'.repeat(125));
    await read();
  }
  expect(memory.used).toBe(0);
});

it('the end of a message is no part of the next one', async () => {
  const { ws, memory, read, held } = await connect();
  ws.send(json(60_000));
  expect(await held()).toBe(0);
  const next = json(60_000);
  ws.send(next.slice(0, 30_000), { fin: false });
  await read();
  expect(memory.used).toBe(0);
  ws.send(next.slice(30_000), { fin: true });
  expect(await held()).toBe(0);
});

it('memory is held for the rest of a large message, also with pings between its parts', async () => {
  const { ws, memory, read, held } = await connect();
  const text = json(120_000);
  for (let at = 0; at < text.length; at += 10_000) {
    ws.send(text.slice(at, at + 10_000), { fin: at + 10_000 >= text.length });
    if (at < 110_000) await read();
  }
  expect(await held()).toBe(20_000_000);
  await read();
  expect(memory.used).toBe(0);
});

it('a large message that does not arrive within 60 s ends the socket with 4408', async () => {
  const { ws, memory, read } = await connect();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = once(ws, 'close');
  ws.send('x'.repeat(70_000), { fin: false });
  await read();
  // Its parts do not extend the time.
  vi.advanceTimersByTime(59_000);
  ws.send('x', { fin: false });
  await read();
  expect(ws.readyState).toBe(WebSocket.OPEN);
  vi.advanceTimersByTime(1_000);
  const [code, reason] = (await closed) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([4408, 'The message took too long to arrive.']);
  expect(memory.used).toBe(0);
});
