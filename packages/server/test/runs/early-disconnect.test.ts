// Clients that disconnect before their run is stored.
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const post = async (path: string, body: unknown): Promise<Socket> => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const text = JSON.stringify(body);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  return socket;
};

/** Requests a run, and disconnects while the statement that creates it waits for the lock of its thread. */
const disconnectEarly = async (
  kind: 'stream' | 'wait',
  on_disconnect: 'cancel' | 'continue',
): Promise<string> => {
  const { thread_id } = await client.threads.create();
  const lock = {
    name: 'lock_thread',
    text: 'select 1 from threads where thread_id = $1 for update',
  };
  await server.database.transact(async (tx) => {
    await tx.query(lock, [thread_id]);
    const input = { do: 'sleep', ms: 2_000 };
    const socket = await post(`/threads/${thread_id}/runs/${kind}`, {
      assistant_id: 'probe',
      input,
      on_disconnect,
    });
    await untilOneWaits(server.database);
    socket.destroy();
    await once(socket, 'close');
    // A server that has answered later requests has also processed the close of this connection.
    for (let request = 0; request < 5; request++) await server.call('GET', '/ok');
  });
  return thread_id;
};

const statusOf = async (thread_id: string): Promise<string> => {
  const [run] = await client.runs.list(thread_id);
  if (!run || ['pending', 'running'].includes(run.status)) throw new Error('The run has not ended');
  return run.status;
};

describe('a client that disconnects before its run is stored', () => {
  it.each(['stream', 'wait'] as const)('cancels the run with on_disconnect cancel (%s)', async (kind) => {
    const thread_id = await disconnectEarly(kind, 'cancel');
    expect(await eventually(() => statusOf(thread_id))).toBe('interrupted');
  });

  it('leaves the run running with on_disconnect continue', async () => {
    const thread_id = await disconnectEarly('stream', 'continue');
    expect(await eventually(() => statusOf(thread_id))).toBe('success');
  });
});
