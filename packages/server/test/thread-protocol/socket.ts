// A WebSocket of thread protocol v2, without a client library.
import { json } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import type { CommandAnswer } from './command.ts';
import type { FeedEvent } from './feed.ts';

export interface OpenSocket {
  ws: WebSocket;
  /** Resolves with the response. */
  command(method: string, params?: object, id?: number): Promise<CommandAnswer>;
  /** Resolves with the next response, to whatever message. */
  next(): Promise<CommandAnswer>;
  /** Resolves with all events so far when one is the last. */
  until(isLast: (event: FeedEvent) => boolean): Promise<FeedEvent[]>;
  events: FeedEvent[];
  closed: Promise<{ code: number; reason: string }>;
}

export const socketUrl = (url: string, thread_id: string, query = ''): string =>
  `${url.replace('http', 'ws')}/threads/${thread_id}/stream/events${query}`;

interface Options extends ClientOptions {
  query?: string;
}

/** Opens a socket; rejects with the status and the body of a refusal. */
export const openSocket = async (
  url: string,
  thread_id: string,
  { query, ...options }: Options = {},
): Promise<OpenSocket> => {
  const ws = new WebSocket(socketUrl(url, thread_id, query), options);
  const socket = listen(ws);
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve);
    ws.once('error', reject);
    ws.once('unexpected-response', (request, response: IncomingMessage) => {
      json(response)
        .then(
          (body) => reject(new Refused(response.statusCode ?? 0, body as Record<string, unknown>)),
          reject,
        )
        .finally(() => request.destroy());
    });
  });
  return socket;
};

/** An upgrade that was answered with a response. */
export class Refused extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;

  constructor(status: number, body: Record<string, unknown>) {
    super(`${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
  }
}

export const refusal = async (opening: Promise<OpenSocket>): Promise<Refused> => {
  const error = await opening.then(
    () => new Error('The upgrade was accepted'),
    (refused: unknown) => refused,
  );
  if (error instanceof Refused) return error;
  throw error;
};

let lastId = 0;

const listen = (ws: WebSocket): OpenSocket => {
  const events: FeedEvent[] = [];
  const answers: CommandAnswer[] = [];
  const wakes = new Set<() => void>();
  const wake = (): void => {
    for (const each of wakes) each();
  };
  let isClosed = false;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.once('close', (code, reason) => {
      isClosed = true;
      wake();
      resolve({ code, reason: String(reason) });
    });
  });
  // The tests read the reason of a close.
  ws.on('error', () => undefined);
  ws.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as FeedEvent | CommandAnswer;
    if (message.type === 'event') events.push(message);
    else answers.push(message);
    wake();
  });
  const untilFound = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find();
        if (found === undefined && !isClosed) return;
        wakes.delete(look);
        if (found === undefined) reject(new Error(`The socket was closed: ${JSON.stringify(events.at(-1))}`));
        else resolve(found);
      };
      wakes.add(look);
      look();
    });
  const take = (isWanted: (answer: CommandAnswer) => boolean): Promise<CommandAnswer> =>
    untilFound(() => {
      const at = answers.findIndex(isWanted);
      return at < 0 ? undefined : answers.splice(at, 1)[0];
    });
  return {
    ws,
    events,
    closed,
    command(method, params = {}, id = ++lastId) {
      ws.send(JSON.stringify({ id, method, params }));
      return take((answer) => answer.id === id);
    },
    next: () => take(() => true),
    until: (isLast) => untilFound(() => (events.some(isLast) ? events : undefined)),
  };
};
