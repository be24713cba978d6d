import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Call } from '../../api/handlers.ts';
import { SocketResponse } from '../../api/sockets.ts';
import { requestLimits } from '../../json/json-limits.ts';
import { createParsing } from '../../parsing/parsing.ts';
import { Upgrades } from './upgrades.ts';

const requestFor = (protocol: string): string =>
  `GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\n` +
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n';

/** A client of a server that passes requests for a WebSocket to `handle`. */
const start = async (handle: (outgoing: ServerResponse, upgrades: Upgrades) => void = () => undefined) => {
  const connections: Socket[] = [];
  const upgrades = new Upgrades({
    isSocketUrl: () => true,
    messageBytesMax: 1_000,
    heartbeatMs: 60_000,
    bufferBytesMax: 1_000,
    json: requestLimits,
    parsing: createParsing(1_000_000, { warn: () => undefined }),
  });
  const server = createServer((_, outgoing) => outgoing.end('served'));
  server.once('connection', (connection) => connections.push(connection));
  upgrades.listen(server, (_, outgoing) => handle(outgoing, upgrades));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return { client, connections };
};

it('requests without a WebSocket leave no listeners on their connection', async () => {
  const { client, connections } = await start();
  const listeners = async (): Promise<unknown> => {
    client.write(requestFor('h2c'));
    await once(client, 'data');
    const [connection] = connections;
    return connection?.eventNames().map((name) => [name, connection.listenerCount(name)]);
  };
  const first = await listeners();
  await listeners();
  expect(await listeners()).toEqual(first);
});

it('a client that has disconnected during the handshake is no WebSocket', async () => {
  const accept = vi.fn<SocketResponse['accept']>();
  const logger = { debug: () => undefined, info: () => undefined, error: () => undefined };
  const renew = (): Promise<Call> => Promise.reject(new Error('Not used'));
  const request = { requestId: 'test', logger, renew };
  const handshake = new Promise((resolve, reject) => {
    void start((outgoing, upgrades) => {
      outgoing.socket?.destroy();
      try {
        resolve(upgrades.accept(outgoing, new SocketResponse(accept), request));
      } catch (error) {
        reject(error);
      }
    }).then(({ client }) => client.write(requestFor('websocket')), reject);
  });
  await expect(handshake).rejects.toMatchObject({ status: 400 });
  expect(accept).not.toHaveBeenCalled();
});
