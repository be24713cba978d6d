import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { requestLimits } from '../../parsing/json-limits.ts';
import { createParsing } from '../../parsing/parsing.ts';
import { Upgrades } from './upgrades.ts';

const request = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';

it('requests without a WebSocket leave no listeners on their connection', async () => {
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
  upgrades.listen(server, () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const listeners = async (): Promise<unknown> => {
    client.write(request);
    await once(client, 'data');
    const [connection] = connections;
    return connection?.eventNames().map((name) => [name, connection.listenerCount(name)]);
  };
  const first = await listeners();
  await listeners();
  expect(await listeners()).toEqual(first);
});
