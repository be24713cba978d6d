// Streams of events, in each dialect of the REST API.
import { check, checkEqual, get, getList, getText } from '../check.ts';
import type { ServerEvent } from '../events.ts';
import type { AreaScenarios } from '../scenario.ts';
import type { ServerClient } from '../server-client.ts';
import { agentRun, checkConversation } from './agents.ts';

const streamOf = async (server: ServerClient, modes: string | string[], fields: object = {}) => {
  const thread_id = await server.newThread();
  const body = agentRun(server, { stream_mode: modes, ...fields });
  const { headers, events } = await server.stream('POST', `/threads/${thread_id}/runs/stream`, body);
  return { thread_id, headers, events: await collect(events) };
};

const collect = async (events: AsyncIterable<ServerEvent>): Promise<ServerEvent[]> => {
  const collected: ServerEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
};

const dataOf = (events: ServerEvent[], name: string): unknown[] =>
  events.filter(({ event }) => event === name).map(({ data }) => data);

const checkNoError = (events: ServerEvent[]): void => {
  const errors = dataOf(events, 'error');
  check(errors.length === 0, 'no error event', errors[0]);
};

export const streams: AreaScenarios = {
  area: 'streams',
  scenarios: {
    'values: the metadata of the run first, then states up to the final one': async (server) => {
      const { events } = await streamOf(server, 'values');
      checkEqual('the first event', events[0]?.event, 'metadata');
      getText(events[0]?.data, 'run_id');
      checkNoError(events);
      const values = dataOf(events, 'values');
      check(values.length >= 2, 'several states', values.length);
      checkConversation(values.at(-1));
    },
    'updates: one event for each node with output': async (server) => {
      const { events, thread_id } = await streamOf(server, 'updates');
      checkNoError(events);
      const nodes = dataOf(events, 'updates').flatMap((data) => Object.keys(data ?? {}));
      const history = getList(await server.call('POST', `/threads/${thread_id}/history`, { limit: 100 }));
      const next = history.toReversed().flatMap((state) => getList(state, 'next'));
      checkEqual(
        'nodes',
        nodes,
        next.filter((node) => node !== '__start__'),
      );
    },
    'messages-tuple: chunks of messages with metadata; together they are the answer': async (server) => {
      const { events, thread_id } = await streamOf(server, 'messages-tuple');
      checkNoError(events);
      const tuples = dataOf(events, 'messages');
      check(
        tuples.length > 0,
        'messages events',
        events.map(({ event }) => event),
      );
      const texts = new Map<unknown, string>();
      for (const tuple of tuples) {
        getText(tuple, 1, 'langgraph_node');
        const content = get(tuple, 0, 'content');
        const id = get(tuple, 0, 'id');
        texts.set(id, (texts.get(id) ?? '') + (typeof content === 'string' ? content : ''));
      }
      const state = await server.call('GET', `/threads/${thread_id}/state`);
      const answer = getList(state, 'values', 'messages').at(-1);
      checkEqual('the text of the chunks', texts.get(get(answer, 'id')), get(answer, 'content'));
    },
    'messages: each message so far at every token, then the complete messages of the state': async (
      server,
    ) => {
      const { events, thread_id } = await streamOf(server, 'messages');
      checkNoError(events);
      const known = dataOf(events, 'messages/metadata').flatMap((data) => Object.keys(data ?? {}));
      const grown = new Map<string, string>();
      for (const [message] of dataOf(events, 'messages/partial').map((data) => getList(data))) {
        const id = getText(message, 'id');
        check(known.includes(id), `messages/metadata of the message ${id}`, known);
        const content = get(message, 'content');
        if (typeof content !== 'string') continue;
        const before = grown.get(id) ?? '';
        check(content.startsWith(before), `a text that begins with ${before}`, content);
        grown.set(id, content);
      }
      check(
        grown.size > 0,
        'events messages/partial',
        events.map(({ event }) => event),
      );
      const state = await server.call('GET', `/threads/${thread_id}/state`);
      const answer = getList(state, 'values', 'messages').at(-1);
      checkEqual('the last partial message', grown.get(getText(answer, 'id')), get(answer, 'content'));
      const complete = dataOf(events, 'messages/complete').flatMap((data) => getList(data));
      const ended = complete.findLast((message) => get(message, 'id') === get(answer, 'id'));
      checkEqual('the complete message', get(ended, 'content'), get(answer, 'content'));
    },
    'custom: what nodes write, and nothing else': async (server) => {
      const { events } = await streamOf(server, 'custom');
      checkEqual('the first event', events[0]?.event, 'metadata');
      const others = events.slice(1).filter(({ event }) => event !== 'custom');
      check(others.length === 0, 'no event of another mode', others[0]);
    },
    'events: a start and an end of every chain': async (server) => {
      const { events } = await streamOf(server, 'events');
      checkNoError(events);
      const reported = dataOf(events, 'events');
      const runsIn = (kind: string): string[] =>
        reported.filter((data) => get(data, 'event') === kind).map((data) => getText(data, 'run_id'));
      const started = runsIn('on_chain_start');
      check(started.length > 0, 'events on_chain_start', reported.slice(0, 3));
      checkEqual('the chains that ended', runsIn('on_chain_end').toSorted(), started.toSorted());
    },
    'debug: tasks with their results, and checkpoints up to the final state': async (server) => {
      const { events } = await streamOf(server, 'debug');
      checkNoError(events);
      const reported = dataOf(events, 'debug');
      const payloads = (type: string): unknown[] =>
        reported.filter((data) => get(data, 'type') === type).map((data) => get(data, 'payload'));
      const tasks = payloads('task').map((task) => getText(task, 'id'));
      check(tasks.length > 0, 'events of type task', reported.slice(0, 3));
      const ended = payloads('task_result').map((task) => getText(task, 'id'));
      checkEqual('the tasks with results', ended.toSorted(), tasks.toSorted());
      checkConversation(get(payloads('checkpoint').at(-1), 'values'));
    },
    'several modes in one stream': async (server) => {
      const { events } = await streamOf(server, ['values', 'updates', 'messages-tuple']);
      const names = new Set(events.map(({ event }) => event));
      for (const name of ['metadata', 'values', 'updates', 'messages'])
        check(names.has(name), `an event ${name}`, [...names]);
    },
    'the headers of a stream name its run': async (server) => {
      const { headers, events, thread_id } = await streamOf(server, 'values');
      const location = headers.get('content-location') ?? 'no header';
      const run_id = getText(events[0]?.data, 'run_id');
      check(
        location.endsWith(`/threads/${thread_id}/runs/${run_id}`),
        'Content-Location with the path of the run',
        location,
      );
    },
    'the stream of a stateless run': async (server) => {
      const body = agentRun(server, { stream_mode: 'values' });
      const { events } = await server.stream('POST', '/runs/stream', body);
      checkConversation(dataOf(await collect(events), 'values').at(-1));
    },
    'a resumable stream can be read again from its start, and after any event': async (server) => {
      const { events, thread_id } = await streamOf(server, ['values', 'updates'], {
        stream_resumable: true,
      });
      const ids = events.map(({ id }) => id);
      check(!ids.includes(undefined) && new Set(ids).size === ids.length, 'distinct ids of events', ids);
      const run_id = getText(events[0]?.data, 'run_id');
      const path = `/threads/${thread_id}/runs/${run_id}/stream`;
      const again = async (last: string) => {
        const stream = await server.stream('GET', path, undefined, { headers: { 'last-event-id': last } });
        return (await collect(stream.events)).map(({ id, event, data }) => ({ id, event, data }));
      };
      checkEqual('all events', await again('-1'), events);
      const middle = Math.floor(events.length / 2);
      checkEqual('the events after one', await again(ids[middle] ?? ''), events.slice(middle + 1));
    },
  },
};
