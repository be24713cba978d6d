// Thread protocol v2 over a WebSocket: the commands and events of the feed, errors, and who may connect.
import { check, CheckFailed, checkEqual, get, getText, NotTried } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import type { ServerClient } from '../server-client.ts';
import { HandshakeRefused, type Socket } from '../socket.ts';
import { agentRun, approvalRun, unknownId } from './agents.ts';
import { feedChannels, isRunEnd, readFeed } from './thread-feed.ts';

const pathOf = (id: string): string => `/threads/${id}/stream/events`;

/** A socket of a new thread. */
const openThread = async (server: ServerClient): Promise<{ id: string; socket: Socket }> => {
  const id = await server.newThread();
  return { id, socket: await server.socket(pathOf(id)) };
};

const subscribe = (socket: Socket, selection: object = {}): Promise<unknown> =>
  socket.result('subscription.subscribe', { channels: feedChannels, ...selection });

/** Events up to the end of a run. */
const untilRunEnd = async (socket: Socket, from = 0): Promise<unknown[]> => {
  const end = await socket.find(isRunEnd, from);
  return socket.events.slice(0, socket.events.indexOf(end) + 1);
};

/** Events of the feed over HTTP. */
const feedOf = async (server: ServerClient, id: string, selection: object = {}): Promise<unknown[]> =>
  (await readFeed(server, id, selection)).map(({ data }) => data);

/** The status of a refusal: of the handshake, or in the close code (4000 and the status) after it; undefined if it is not refused. */
const refusalOf = async (opening: Promise<Socket>): Promise<number | undefined> => {
  let socket: Socket;
  try {
    socket = await opening;
  } catch (error) {
    if (error instanceof HandshakeRefused) return error.status;
    throw error;
  }
  const answer = socket.command('state.get').then(
    () => undefined,
    (error: unknown) => {
      if (!(error instanceof CheckFailed)) throw error;
    },
  );
  const close = await Promise.race([answer, socket.closed]);
  return close === undefined ? undefined : close.code - 4000;
};

const checkRefused = async (what: string, opening: Promise<Socket>, ...expected: number[]): Promise<void> => {
  const status = await refusalOf(opening);
  check(
    status !== undefined && expected.includes(status),
    `${what} to be refused with ${expected.join(' or ')}`,
    status,
  );
};

const checkError = (answer: unknown, id: number | null, error: string): void => {
  checkEqual('the type of the response', get(answer, 'type'), 'error');
  checkEqual('the id of the response', get(answer, 'id'), id);
  checkEqual('the error', get(answer, 'error'), error);
};

/** Responses to a handshake of servers that have no WebSocket at the path. */
const withoutSocket = new Set([404, 405, 426, 501]);

export const websocket: AreaScenarios = {
  area: 'websocket',
  absent: async (server) => {
    try {
      const { socket } = await openThread(server);
      await socket.close();
    } catch (error) {
      if (error instanceof HandshakeRefused && withoutSocket.has(error.status))
        return `the server has no WebSocket of thread protocol v2: its handshake gets ${error.status}`;
      throw error;
    } finally {
      await server.deleteThreads();
    }
    return undefined;
  },
  scenarios: {
    'run.start starts a run, and a subscription has the events of the feed over HTTP, in order': async (
      server,
    ) => {
      const { id, socket } = await openThread(server);
      getText(await socket.result('run.start', agentRun(server)), 'run_id');
      getText(await subscribe(socket), 'subscription_id');
      const events = await untilRunEnd(socket);
      checkEqual('the end', get(events.at(-1), 'params', 'data', 'event'), 'completed');
      const feed = await feedOf(server, id);
      const ids = (of: unknown[]) => of.map((event) => getText(event, 'event_id'));
      checkEqual('the event ids of the WebSocket', ids(events), ids(feed));
      checkEqual('the events of the WebSocket', events, feed);
      checkEqual('the code of the close', (await socket.close()).code, 1000);
    },
    'a subscription before any run gets the events of the run, after its response': async (server) => {
      const { id, socket } = await openThread(server);
      await subscribe(socket);
      await socket.result('run.start', agentRun(server));
      const events = await untilRunEnd(socket);
      checkEqual('the events of the WebSocket', events, await feedOf(server, id));
      checkEqual('the type of the first message', get(socket.messages[0], 'type'), 'success');
    },
    'a WebSocket that is opened later has the same events, and with since only those after it': async (
      server,
    ) => {
      const { id, socket } = await openThread(server);
      await socket.result('run.start', agentRun(server));
      const all = await feedOf(server, id);
      const later = await server.socket(pathOf(id));
      await subscribe(later);
      checkEqual('the events of a later reader', await untilRunEnd(later), all);
      const since = get(all[Math.floor(all.length / 2)], 'seq') as number;
      const last = await server.socket(pathOf(id));
      await subscribe(last, { since });
      const rest = all.filter((event) => (get(event, 'seq') as number) > since);
      checkEqual('the events after one', await untilRunEnd(last), rest);
    },
    'subscription.unsubscribe ends a subscription, once': async (server) => {
      const { id, socket } = await openThread(server);
      const subscription_id = getText(await subscribe(socket), 'subscription_id');
      await socket.result('subscription.unsubscribe', { subscription_id });
      const again = await socket.command('subscription.unsubscribe', { subscription_id });
      checkEqual('the error of a repetition', get(again, 'error'), 'no_such_subscription');
      await socket.result('run.start', agentRun(server));
      await readFeed(server, id);
      // The response comes after all events that the server has sent before.
      await socket.result('state.get');
      checkEqual('the number of events', socket.events.length, 0);
    },
    'input.respond answers an interrupt, once': async (server) => {
      const { socket } = await openThread(server);
      await subscribe(socket);
      await socket.result('run.start', approvalRun(server));
      const events = await untilRunEnd(socket);
      const asked = events.find((event) => get(event, 'method') === 'input.requested');
      const interrupt_id = getText(asked, 'params', 'data', 'interrupt_id');
      const params = { namespace: [], interrupt_id, response: { approve: true } };
      const before = socket.messages.length;
      await socket.result('input.respond', params);
      const rest = await untilRunEnd(socket, before);
      checkEqual('the end', get(rest.at(-1), 'params', 'data', 'event'), 'completed');
      checkEqual('decision', get(await socket.result('state.get'), 'values', 'decision'), 'sent');
      const again = await socket.command('input.respond', { ...params, response: { approve: false } });
      checkEqual('the error of a second answer', get(again, 'error'), 'no_such_interrupt');
    },
    'malformed messages and unknown commands get errors, and the WebSocket stays open': async (server) => {
      const { socket } = await openThread(server);
      const answerTo = (text: string): Promise<unknown> => {
        const from = socket.messages.length;
        socket.send(text);
        return socket.find(() => true, from);
      };
      checkError(await answerTo('{"id":1,'), null, 'invalid_argument');
      checkError(await answerTo('[]'), null, 'invalid_argument');
      checkError(await answerTo('{"method":"state.get"}'), null, 'invalid_argument');
      checkError(await answerTo('{"id":1000}'), 1000, 'invalid_argument');
      checkError(await answerTo('{"id":1001,"method":"no.such"}'), 1001, 'unknown_command');
      const nothing = await socket.command('subscription.subscribe', { channels: [] });
      checkEqual('the error without channels', get(nothing, 'error'), 'invalid_argument');
      await subscribe(socket);
    },
    'a binary message ends the WebSocket with 1003': async (server) => {
      const { socket } = await openThread(server);
      socket.send(Buffer.from(JSON.stringify({ id: 1, method: 'state.get', params: {} })));
      checkEqual('the code of the close', (await socket.closed).code, 1003);
    },
    'the deletion of its thread ends a WebSocket with 4404': async (server) => {
      const { id, socket } = await openThread(server);
      await subscribe(socket);
      await socket.result('run.start', agentRun(server));
      await untilRunEnd(socket);
      await server.call('DELETE', `/threads/${id}`);
      checkEqual('the code of the close', (await socket.closed).code, 4404);
    },
    'a thread id that is not valid is refused': async (server) => {
      // The path with a valid id has a WebSocket.
      const { socket } = await openThread(server);
      await socket.close();
      await checkRefused('the handshake', server.socket(pathOf('no-id')), 400, 404, 422);
    },
    'a WebSocket without a credential, or with an invalid one, is refused': async (server) => {
      if (!server.has('first')) throw new NotTried('needs --header with a credential');
      const path = pathOf(await server.newThread());
      const nobody = { caller: 'nobody' } as const;
      await checkRefused('no credential', server.socket(path, nobody), 401, 403);
      const headers = { authorization: 'Bearer not-a-credential', 'x-api-key': 'not-a-credential' };
      await checkRefused('an invalid credential', server.socket(path, { ...nobody, headers }), 401, 403);
    },
    'a ticket opens one WebSocket, without a credential': async (server) => {
      const created = await server.send('POST', '/auth/tickets');
      if (created.status === 404 || created.status === 405) throw new NotTried('the server has no tickets');
      const path = `${pathOf(await server.newThread())}?ticket=${getText(created.body, 'ticket')}`;
      const socket = await server.socket(path, { caller: 'nobody' });
      await subscribe(socket);
      await socket.result('run.start', agentRun(server));
      await untilRunEnd(socket);
      await checkRefused('a used ticket', server.socket(path, { caller: 'nobody' }), 401, 403);
      const invalid = `${pathOf(unknownId())}?ticket=not-a-ticket`;
      await checkRefused('an invalid ticket', server.socket(invalid, { caller: 'nobody' }), 401, 403);
    },
    'a user gets nothing of the thread of another user': async (server) => {
      if (!server.has('first')) throw new NotTried('needs --header with a credential');
      if (!server.has('second'))
        throw new NotTried('needs --second-header with the credential of another user');
      const { id, socket } = await openThread(server);
      await subscribe(socket);
      await socket.result('run.start', approvalRun(server));
      await untilRunEnd(socket);
      let other: Socket;
      try {
        other = await server.socket(pathOf(id), { caller: 'second' });
      } catch (error) {
        // A server may also refuse the handshake.
        if (error instanceof HandshakeRefused && [403, 404].includes(error.status)) return;
        throw error;
      }
      for (const [method, params] of [
        ['subscription.subscribe', { channels: feedChannels }],
        ['run.start', agentRun(server)],
        ['state.get', {}],
      ] as const) {
        const answer = await other.command(method, params);
        if (method !== 'subscription.subscribe')
          checkEqual(`the type of the response to ${method}`, get(answer, 'type'), 'error');
      }
      checkEqual('events of another user', other.events, []);
    },
  },
};
