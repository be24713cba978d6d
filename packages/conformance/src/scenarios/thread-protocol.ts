// Thread protocol v2: commands, and the feed of events.
import { check, checkEqual, get, getText } from '../check.ts';
import type { ServerEvent } from '../events.ts';
import type { AreaScenarios } from '../scenario.ts';
import type { ServerClient } from '../server-client.ts';
import { agentRun, approvalRun, unknownId } from './agents.ts';
import { readFeed } from './thread-feed.ts';

const command = async (server: ServerClient, id: string, method: string, params: object): Promise<unknown> =>
  server.call('POST', `/threads/${id}/commands`, { id: 1, method, params });

const result = async (...of: Parameters<typeof command>): Promise<unknown> => {
  const answer = await command(...of);
  checkEqual(`the type of the response to ${of[2]}`, get(answer, 'type'), 'success');
  return get(answer, 'result');
};

const methodsOf = (events: ServerEvent[]): Set<string> => new Set(events.map(({ event }) => event));

export const threadProtocol: AreaScenarios = {
  area: 'thread-protocol',
  absent: async (server) => {
    const path = `/threads/${unknownId()}/commands`;
    const { status, body } = await server.send('POST', path, { id: 1, method: 'no.such', params: {} });
    const isThere = status === 200 || get(body, 'type') === 'error';
    return isThere || status < 400 ? undefined : 'the server has no thread protocol v2';
  },
  scenarios: {
    'run.start starts a run, and the feed has its events in order': async (server) => {
      const id = await server.newThread();
      const started = await result(server, id, 'run.start', agentRun(server));
      getText(started, 'run_id');
      const events = await readFeed(server, id);
      const numbers = events.map(({ data }) => get(data, 'seq') as number);
      checkEqual(
        'growing numbers',
        numbers,
        [...new Set(numbers)].toSorted((a, b) => a - b),
      );
      const ids = events.map(({ data }) => getText(data, 'event_id'));
      checkEqual('distinct event ids', new Set(ids).size, ids.length);
      const methods = methodsOf(events);
      for (const method of ['lifecycle', 'values', 'messages'])
        check(methods.has(method), `an event ${method}`, [...methods]);
      checkEqual('the end', get(events.at(-1)?.data, 'params', 'data', 'event'), 'completed');
    },
    'a feed that is opened later has the same events': async (server) => {
      const id = await server.newThread();
      const [first] = await Promise.all([
        readFeed(server, id),
        result(server, id, 'run.start', agentRun(server)),
      ]);
      const dataOf = (events: ServerEvent[]) => events.map(({ data }) => data);
      checkEqual('the events of a later reader', dataOf(await readFeed(server, id)), dataOf(first));
      const since = get(first[Math.floor(first.length / 2)]?.data, 'seq') as number;
      const rest = dataOf(first).filter((data) => (get(data, 'seq') as number) > since);
      checkEqual('the events after one', dataOf(await readFeed(server, id, { since })), rest);
    },
    'input.respond answers an interrupt, once': async (server) => {
      const id = await server.newThread();
      await result(server, id, 'run.start', approvalRun(server));
      const events = await readFeed(server, id);
      const asked = events.find(({ event }) => event === 'input.requested');
      const interrupt_id = getText(asked?.data, 'params', 'data', 'interrupt_id');
      const params = { namespace: [], interrupt_id, response: { approve: true } };
      await result(server, id, 'input.respond', params);
      const since = get(events.at(-1)?.data, 'seq');
      const rest = await readFeed(server, id, { since });
      checkEqual('the end', get(rest.at(-1)?.data, 'params', 'data', 'event'), 'completed');
      const state = await result(server, id, 'state.get', {});
      checkEqual('decision', get(state, 'values', 'decision'), 'sent');
      const again = await command(server, id, 'input.respond', { ...params, response: { approve: false } });
      checkEqual('the error of a second answer', get(again, 'error'), 'no_such_interrupt');
    },
    'an unknown command and invalid parameters get errors with a code': async (server) => {
      const id = await server.newThread();
      checkEqual('error', get(await command(server, id, 'no.such', {}), 'error'), 'unknown_command');
      const invalid = await command(server, id, 'run.start', { assistant_id: 1 });
      checkEqual('error', get(invalid, 'error'), 'invalid_argument');
    },
  },
};
