// kill -9 of every process while a run streams: the run continues after the restart, and a reader gets the events from before once more, with
// the same ids.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, expect, it } from 'vitest';
import { WebSocket as NodeSocket } from 'ws';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { eventually } from '../eventually.ts';
import { testProject } from '../server.ts';
import { isRunEnd, readFeed, type FeedEvent } from './feed.ts';
import { sharedFolder } from '../folders.ts';

const dataDir = sharedFolder();
let svc: SvcProcess | undefined;
afterAll(async () => {
  await svc?.killAll();
});

/** Sockets of the stock client, with the number of subscriptions that the server has confirmed on each. */
const sockets: { subscriptions: number }[] = [];

const webSocketFactory = (url: string): WebSocket => {
  const socket = new NodeSocket(url);
  const entry = { subscriptions: 0 };
  sockets.push(entry);
  socket.on('message', (data: Buffer) => {
    if (data.includes('"subscription_id"')) entry.subscriptions++;
  });
  return socket as unknown as WebSocket;
};

it.each(['sse', 'websocket'] as const)(
  'a run and its readers over %s continue after kill -9',
  async (transport) => {
    svc = await startSvc(dataDir, testProject);
    const { url } = svc;
    const client = new Client({ apiUrl: url });
    const thread = client.threads.stream(randomUUID(), {
      assistantId: 'probe',
      transport,
      webSocketFactory,
      maxReconnectAttempts: 100,
    });
    const file = join(dataDir, randomUUID());
    await thread.run.start({ input: { do: 'writeWhen', out: file } });
    const isStarted = ({ params }: FeedEvent): boolean =>
      params.namespace.length === 1 && params.data['event'] === 'started';
    const before = await readFeed(url, thread.threadId, isStarted);
    await svc.killAll();
    svc = await startSvc(dataDir, testProject, { port: new URL(url).port });
    expect(svc.url).toBe(url);
    // The client subscribes to its channels one by one, and would end its output when it gets the end of the run before the others.
    if (transport === 'websocket') await eventually(() => expect(sockets.at(-1)?.subscriptions).toBe(2));
    await writeFile(file, '');
    // The client that was connected gets the result over a new connection.
    expect(await thread.output).toMatchObject({ out: 'wrote' });
    await thread.close();
    const after = await readFeed(url, thread.threadId, isRunEnd);
    expect(after.slice(0, before.length)).toEqual(before);
    const numbers = after.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    const lifecycle = after.filter(({ method }) => method === 'lifecycle');
    expect(lifecycle.map(({ params }) => params.data['event'])).toEqual([
      'running',
      'started',
      'completed',
      'completed',
    ]);
    const { kwargs: _, ...run } = (await client.runs.list(thread.threadId))[0] as unknown as {
      kwargs: unknown;
      attempt: number;
    };
    expect(run.attempt).toBe(2);
    await svc.killAll();
    svc = undefined;
  },
  180_000,
);
