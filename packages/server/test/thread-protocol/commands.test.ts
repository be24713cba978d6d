// Commands of thread protocol v2: runs that they start once, answers of interrupts, states, and errors.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { projectWith } from '../edge/wire.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';
import { command, type CommandAnswer } from './command.ts';
import { allChannels, type FeedEvent, isRunEnd, nthRunEnd, readFeed } from './feed.ts';
import { openSocket, refusal } from './socket.ts';

const server = fixture(() => startTestServer({ settings: { streamsPerCaller: '1000' } }));

const start = (thread_id: string, params: object, id?: number, headers?: Record<string, string>) =>
  command(server, thread_id, 'run.start', params, id, headers);

/** Waits for the end of the nth run. */
const afterRuns = (thread_id: string, count = 1): Promise<FeedEvent[]> =>
  readFeed(server.url, thread_id, nthRunEnd(count));

const runsOf = async (thread_id: string) =>
  (await server.call('GET', `/threads/${thread_id}/runs`)).body as { run_id: string; kwargs: object }[];

const logOf = async (thread_id: string): Promise<unknown> => {
  const { body } = await server.call('GET', `/threads/${thread_id}/state`);
  return (body as { values: { log: unknown } }).values.log;
};

/** A thread that waits at the interrupt of the graph `approval`. */
const interrupted = async (graph = 'approval') => {
  const thread_id = randomUUID();
  await start(thread_id, { assistant_id: graph, input: graph === 'toolbox' ? chatInput('go') : { log: [] } });
  const events = await afterRuns(thread_id);
  const asked = events.filter(({ method }) => method === 'input.requested');
  expect(asked).toHaveLength(1);
  const [{ params }] = asked as [FeedEvent];
  return { thread_id, interrupt_id: String(params.data['interrupt_id']), namespace: params.namespace };
};

const expectError = (answer: CommandAnswer, error: string): void =>
  expect(answer, JSON.stringify(answer)).toMatchObject({ type: 'error', error, message: expect.any(String) });

describe('run.start', () => {
  it('starts one run when a command is repeated, also at the same time', async () => {
    const thread_id = randomUUID();
    const params = { assistant_id: 'probe', input: { do: 'waitForAbort' } };
    const answers = await Promise.all([1, 2, 3].map(() => start(thread_id, params, 7)));
    const [first] = answers;
    for (const answer of answers) expect(answer).toEqual(first);
    expect(await start(thread_id, params, 7)).toEqual(first);
    expect(await runsOf(thread_id)).toHaveLength(1);
    // Another number, other parameters.
    expect((await start(thread_id, params, 8)).result).not.toEqual(first?.result);
    const other = { ...params, metadata: { other: true } };
    expect((await start(thread_id, other, 7)).result).not.toEqual(first?.result);
    expect(await runsOf(thread_id)).toHaveLength(3);
  });

  it('starts another run when the same command comes after the run has ended', async () => {
    const thread_id = randomUUID();
    const params = { assistant_id: 'chat', input: chatInput('again') };
    const ids = new Set<unknown>();
    let since: number | undefined;
    for (let count = 1; count <= 18; count++) {
      ids.add((await start(thread_id, params, 1)).result['run_id']);
      const events = await readFeed(server.url, thread_id, isRunEnd, { since });
      since = events.at(-1)?.seq;
    }
    expect(ids.size).toBe(18);
  });

  it('starts one run for an Idempotency-Key', async () => {
    const thread_id = randomUUID();
    const headers = { 'idempotency-key': randomUUID() };
    const params = { assistant_id: 'chat', input: chatInput('once') };
    const first = await start(thread_id, params, 1, headers);
    await afterRuns(thread_id);
    expect((await start(thread_id, params, 2, headers)).result).toEqual(first.result);
    expect(await runsOf(thread_id)).toHaveLength(1);
  });

  it('applies the multitask strategy under both of its names', async () => {
    const thread_id = randomUUID();
    const params = { assistant_id: 'probe', input: { do: 'waitForAbort' } };
    const first = await start(thread_id, params);
    for (const name of ['multitask_strategy', 'multitaskStrategy'])
      expectError(await start(thread_id, { ...params, [name]: 'reject' }), 'invalid_argument');
    await start(thread_id, { assistant_id: 'chat', input: chatInput('now'), multitaskStrategy: 'interrupt' });
    await afterRuns(thread_id, 2);
    const { body } = await server.call('GET', `/threads/${thread_id}/runs/${String(first.result['run_id'])}`);
    expect(body).toMatchObject({ status: 'interrupted' });
  });

  it('takes the input as the answer when the thread waits at an interrupt', async () => {
    const { thread_id } = await interrupted();
    await start(thread_id, { assistant_id: 'approval', input: 'yes' });
    await afterRuns(thread_id, 2);
    expect(await logOf(thread_id)).toEqual(['written', 'answered yes', 'sent']);
  });

  it('forks at a checkpoint that the configuration names', async () => {
    const thread_id = randomUUID();
    await start(thread_id, { assistant_id: 'chat', input: chatInput('first') });
    await afterRuns(thread_id);
    const { result } = await command(server, thread_id, 'state.listCheckpoints', { limit: 10 });
    const checkpoints = result['checkpoints'] as { id: string; step: number; timestamp: string }[];
    expect(checkpoints.map(({ step }) => step)).toEqual([1, 0, -1]);
    const checkpoint_id = checkpoints.at(-1)?.id;
    const input = chatInput('second');
    const config = { configurable: { checkpoint_id } };
    await start(thread_id, { assistant_id: 'chat', input, config });
    await afterRuns(thread_id, 2);
    const state = await command(server, thread_id, 'state.get', { keys: ['messages'] });
    const { messages } = state.result['values'] as { messages: { content: string }[] };
    expect(messages.map(({ content }) => content)).toEqual(['second', 'echo second']);
    const unknown = { configurable: { checkpoint_id: randomUUID() } };
    expectError(
      await start(thread_id, { assistant_id: 'chat', input, config: unknown }),
      'no_such_checkpoint',
    );
    expect(await command(server, thread_id, 'state.fork', { checkpoint_id, input })).toMatchObject({
      type: 'success',
      result: { thread_id, run_id: expect.any(String) },
    });
    expectError(
      await command(server, thread_id, 'state.fork', { checkpoint_id: randomUUID() }),
      'no_such_checkpoint',
    );
  });
});

describe('input.respond', () => {
  it('answers an interrupt of a subgraph, and writes an update in the same superstep', async () => {
    const { thread_id, interrupt_id, namespace } = await interrupted('nested');
    expect(namespace).toEqual([expect.stringMatching(/^inner:/)]);
    const update = { log: ['updated'] };
    const answer = { namespace, interrupt_id, response: 'well', update };
    expect(await command(server, thread_id, 'input.respond', answer)).toMatchObject({
      type: 'success',
      result: {},
    });
    await afterRuns(thread_id, 2);
    expect(await logOf(thread_id)).toEqual(expect.arrayContaining(['updated', 'asked well']));
  });

  it('executes the nodes that goto names in the same superstep', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    const goto = ['send', { node: 'write', input: {} }];
    const params = { interrupt_id, response: 'yes', goto };
    expect(await command(server, thread_id, 'input.respond', params)).toMatchObject({ type: 'success' });
    const events = await afterRuns(thread_id, 2);
    const [superstep] = events.flatMap(({ method, params: { data } }) =>
      method === 'values' && JSON.stringify(data).includes('answered yes') ? [data] : [],
    );
    expect(superstep?.['log']).toHaveLength(4);
    expect(superstep?.['log']).toEqual(expect.arrayContaining(['written', 'answered yes', 'sent']));
  });

  it('refuses a goto that names no node', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    for (const goto of [5, {}, { node: 'send', inputs: {} }, [['send']]])
      expectError(
        await command(server, thread_id, 'input.respond', { interrupt_id, response: 'yes', goto }),
        'invalid_argument',
      );
    expect(await runsOf(thread_id)).toHaveLength(1);
  });

  it('takes one of two answers that race', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    const answers = await Promise.all(
      ['yes', 'no', 'maybe'].map((response) =>
        command(server, thread_id, 'input.respond', { namespace: [], interrupt_id, response }),
      ),
    );
    expect(answers.filter(({ type }) => type === 'success')).toHaveLength(1);
    for (const answer of answers.filter(({ type }) => type === 'error'))
      expectError(answer, 'no_such_interrupt');
    await afterRuns(thread_id, 2);
    expect(await runsOf(thread_id)).toHaveLength(2);
    expect(await logOf(thread_id)).toHaveLength(3);
    const again = { namespace: [], interrupt_id, response: 'late' };
    expectError(await command(server, thread_id, 'input.respond', again), 'no_such_interrupt');
  });

  it('takes a repeated answer once', async () => {
    const { thread_id, interrupt_id } = await interrupted('toolbox');
    const answer = { namespace: [], interrupt_id, response: { ok: true } };
    const headers = { 'idempotency-key': randomUUID() };
    for (let count = 0; count < 3; count++) {
      const sent = await command(server, thread_id, 'input.respond', answer, 3, headers);
      expect(sent).toMatchObject({ type: 'success', result: {} });
      await afterRuns(thread_id, 2);
    }
    expect(await runsOf(thread_id)).toHaveLength(2);
  });

  it('refuses interrupts that the thread does not wait at, and changes nothing', async () => {
    const { thread_id, interrupt_id } = await interrupted();
    const other = await interrupted();
    const respond = (params: object) => command(server, thread_id, 'input.respond', params);
    const one = { namespace: [], interrupt_id, response: 1 };
    expectError(await respond({ ...one, interrupt_id: 'x' }), 'no_such_interrupt');
    expectError(await respond({ ...one, interrupt_id: other.interrupt_id }), 'no_such_interrupt');
    expectError(await respond({ responses: [one, { ...one, interrupt_id: 'x' }] }), 'no_such_interrupt');
    expectError(await respond({ responses: [one, one] }), 'invalid_argument');
    expectError(await respond({ responses: [] }), 'invalid_argument');
    expectError(await respond({}), 'invalid_argument');
    expectError(await respond({ ...one, responses: [one] }), 'invalid_argument');
    expectError(await command(server, randomUUID(), 'input.respond', one), 'invalid_argument');
    expect(await runsOf(thread_id)).toHaveLength(1);
    expect(await respond({ responses: [one] })).toMatchObject({ type: 'success' });
  });
});

describe('reads', () => {
  it('describe the tree, also of a thread without runs', async () => {
    const { thread_id } = await interrupted();
    const { result } = await command(server, thread_id, 'agent.getTree');
    expect(result['tree']).toMatchObject({ namespace: [], status: 'interrupted', graph_name: 'approval' });
    expectError(await command(server, thread_id, 'agent.getTree', { run_id: randomUUID() }), 'no_such_run');
    const { body } = await server.call('POST', '/threads', {});
    const empty = (body as { thread_id: string }).thread_id;
    expectError(await command(server, empty, 'agent.getTree'), 'no_such_run');
  });

  it('return the tree of the graphs of a thread, or of a run', async () => {
    const { thread_id, namespace, interrupt_id } = await interrupted('nested');
    const tree = async (params: object = {}) =>
      (await command(server, thread_id, 'agent.getTree', params)).result['tree'];
    const asking = { namespace, status: 'interrupted', graph_name: 'inner' };
    expect(await tree()).toMatchObject({ status: 'interrupted', graph_name: 'nested', children: [asking] });
    const { metadata } = (await tree()) as { metadata: { run_id: string } };
    await command(server, thread_id, 'input.respond', { interrupt_id, response: 'yes' });
    await afterRuns(thread_id, 2);
    expect(await tree()).toMatchObject({
      status: 'completed',
      children: [{ namespace, status: 'completed', graph_name: 'inner' }],
    });
    // The newest checkpoint of the subgraph is of the second run.
    expect(await tree(metadata)).not.toHaveProperty('children');
  });

  it('return the state of a namespace', async () => {
    const { thread_id, namespace } = await interrupted('nested');
    const inner = await command(server, thread_id, 'state.get', { namespace });
    expect(inner.result).toMatchObject({
      values: { log: ['deep'] },
      checkpoint: { id: expect.any(String), ns: namespace.join('|') },
    });
    expectError(
      await command(server, thread_id, 'state.get', { namespace: ['none:1'] }),
      'no_such_namespace',
    );
    const keys = await command(server, thread_id, 'state.get', { namespace: [], keys: ['none'] });
    expect(keys.result['values']).toEqual({});
  });
});

it('answers malformed envelopes with 400, and other faults in the response', async () => {
  const thread_id = randomUUID();
  const path = `/threads/${thread_id}/commands`;
  const malformed = [
    null,
    [],
    1,
    'run.start',
    {},
    { id: 1 },
    { method: 'run.start' },
    { id: -1, method: 'run.start' },
    { id: 1.5, method: 'run.start' },
    { id: '1', method: 'run.start' },
    { id: 1, method: '' },
    { id: 1, method: 5 },
    { id: 1, method: 'x'.repeat(257) },
    { id: 1, method: 'run.start', params: [] },
  ];
  for (const body of malformed)
    expect(await server.call('POST', path, body), JSON.stringify(body)).toMatchObject({ status: 400 });
  const refused: [method: string, params: object, error: string][] = [
    ['run.stop', {}, 'unknown_command'],
    ['toString', {}, 'unknown_command'],
    ['__proto__', {}, 'unknown_command'],
    ['input.inject', { namespace: [], message: { role: 'user', content: 'x' } }, 'invalid_argument'],
    ['input.inject', { message: { role: 'assistant', content: 'x' } }, 'invalid_argument'],
    ['input.inject', { namespace: ['sub'], message: { role: 'user', content: 'x' } }, 'invalid_argument'],
    ['subscription.subscribe', { channels: ['values'] }, 'not_supported'],
    ['subscription.reconnect', { run_id: 'x' }, 'not_supported'],
    ['run.start', {}, 'invalid_argument'],
    ['run.start', { assistant_id: 'none', input: null }, 'invalid_argument'],
    ['run.start', { assistant_id: 'chat', inputs: {} }, 'invalid_argument'],
    ['run.start', { assistant_id: 'chat', multitask_strategy: 'x' }, 'invalid_argument'],
    [
      'run.start',
      { assistant_id: 'chat', config: { configurable: { checkpoint_id: 1 } } },
      'invalid_argument',
    ],
    ['state.get', { namespace: 'x' }, 'invalid_argument'],
    ['state.listCheckpoints', { limit: 1_000 }, 'invalid_argument'],
  ];
  for (const [method, params, error] of refused) {
    const answer = await command(server, thread_id, method, params, 5);
    expectError(answer, error);
    expect(answer).toMatchObject({ id: 5, meta: { thread_id } });
  }
  expect((await server.call('GET', `/threads/${thread_id}`)).status).toBe(404);
});

// The WebSocket of thread protocol v2: the same commands, events, rights and limits as over HTTP.

const chat = { assistant_id: 'chat', input: chatInput('hello') };

describe('a socket', () => {
  it('has the events that a feed over HTTP has', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    const started = await socket.command('run.start', chat);
    expect(started).toMatchObject({ type: 'success', meta: { thread_id, applied_through_seq: 0 } });
    const subscribed = await socket.command('subscription.subscribe', { channels: allChannels });
    const subscription_id: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(subscribed.result).toEqual({ subscription_id, replayed_events: 0 });
    const events = await socket.until(isRunEnd);
    expect(events).toEqual(await readFeed(server.url, thread_id, isRunEnd));
    socket.ws.close();
  });

  it('sends a subscription that is added while a run streams all of its events, in order', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    await socket.command('run.start', { assistant_id: 'probe', input: { do: 'tick', ms: 100 } });
    await socket.command('subscription.subscribe', { channels: ['lifecycle'] });
    await socket.until(({ params }) => params.namespace.length > 0);
    await socket.command('subscription.subscribe', { channels: ['custom'] });
    await socket.until(({ method }) => method === 'custom');
    const channels = ['values', 'custom', 'lifecycle'];
    await socket.command('subscription.subscribe', { channels });
    const events = await socket.until(isRunEnd);
    const all = await readFeed(server.url, thread_id, isRunEnd, { channels });
    // From where the last subscription begins, each event is sent once.
    const begin = events.findLastIndex(({ event_id }) => event_id === all[0]?.event_id);
    expect(events.slice(begin)).toEqual(all);
    const known = new Set(all.map(({ event_id }) => event_id));
    expect(events.every(({ event_id }) => known.has(event_id))).toBe(true);
    socket.ws.close();
  });

  it('filters like a feed, and ends a subscription', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    const first = await socket.command('subscription.subscribe', { channels: ['lifecycle'], depth: 0 });
    await socket.command('run.start', chat);
    const events = await socket.until(isRunEnd);
    expect(events.map(({ params }) => params.data['event'])).toEqual(['running', 'completed']);
    const last = events.at(-1)?.seq ?? 0;
    const { subscription_id } = first.result;
    expect(await socket.command('subscription.unsubscribe', { subscription_id })).toMatchObject({
      result: {},
    });
    expect(await socket.command('subscription.unsubscribe', { subscription_id })).toMatchObject({
      error: 'no_such_subscription',
    });
    await socket.command('subscription.subscribe', { channels: ['lifecycle', 'values'], since: last });
    await socket.command('run.start', chat);
    const later = await socket.until((event) => isRunEnd(event) && event.seq > last);
    expect(later.slice(2).every(({ seq }) => seq > last)).toBe(true);
    expect(later.slice(2).some(({ method }) => method === 'values')).toBe(true);
    socket.ws.close();
  });

  it('starts the runs of its commands in their order', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    const started = await Promise.all(
      Array.from({ length: 12 }, () =>
        socket.command('run.start', { assistant_id: 'probe', input: { action: 'user' } }),
      ),
    );
    const runs = (await server.call('GET', `/threads/${thread_id}/runs?limit=100`)).body as {
      run_id: string;
    }[];
    expect(runs.map(({ run_id }) => run_id).toReversed()).toEqual(
      started.map(({ result }) => result['run_id']),
    );
    socket.ws.close();
  });

  it('of two that answer one interrupt, one starts a run', async () => {
    const thread_id = randomUUID();
    const sockets = await Promise.all([1, 2].map(() => openSocket(server.url, thread_id)));
    const [first] = sockets;
    await first?.command('subscription.subscribe', { channels: ['input', 'lifecycle'] });
    await first?.command('run.start', { assistant_id: 'approval', input: {} });
    const events = (await first?.until(isRunEnd)) ?? [];
    const requested = events.find(({ method }) => method === 'input.requested');
    const interrupt_id = requested?.params.data['interrupt_id'];
    const answers = await Promise.all(
      sockets.map((socket, at) => socket.command('input.respond', { interrupt_id, response: `by ${at}` })),
    );
    expect(answers.map(({ type }) => type).toSorted()).toEqual(['error', 'success']);
    expect(answers.find(({ type }) => type === 'error')).toMatchObject({ error: 'no_such_interrupt' });
    const runs = (await server.call('GET', `/threads/${thread_id}/runs`)).body as unknown[];
    expect(runs).toHaveLength(2);
    for (const { ws } of sockets) ws.close();
  });

  it('is asked to connect again when the server stops', async () => {
    await using stopping = await startTestServer({ executors: 'none' });
    const socket = await openSocket(stopping.url, randomUUID());
    await socket.command('subscription.subscribe', { channels: ['values'] });
    await stopping[Symbol.asyncDispose]();
    expect(await socket.closed).toEqual({ code: 1012, reason: 'The server restarts.' });
  });

  it('ends with 4404 when its thread is deleted', async () => {
    const thread_id = randomUUID();
    const socket = await openSocket(server.url, thread_id);
    await socket.command('run.start', chat);
    await socket.command('subscription.subscribe', { channels: ['lifecycle'] });
    await socket.until(isRunEnd);
    await server.call('DELETE', `/threads/${thread_id}`);
    expect(await socket.closed).toMatchObject({ code: 4404 });
  });
});

describe('an upgrade', () => {
  it('is needed for a GET of the path', async () => {
    const answer = await server.call('GET', `/threads/${randomUUID()}/stream/events`);
    expect(answer).toMatchObject({ status: 426, body: { code: 'bad_request' } });
    expect(answer.headers.get('upgrade')).toBe('websocket');
  });

  it('is refused with a response where the API is disabled, and at other paths', async () => {
    for (const key of ['disable_threads', 'disable_runs']) {
      await using project = await projectWith({ http: { [key]: true } });
      await using disabled = await startTestServer({ project: project.file, executors: 'none' });
      expect(await refusal(openSocket(disabled.url, randomUUID()))).toMatchObject({ status: 404 });
    }
    expect(await refusal(openSocket(`${server.url}/nowhere`, randomUUID()))).toMatchObject({ status: 404 });
    expect(await refusal(openSocket(server.url, 'no-id'))).toMatchObject({ status: 422 });
  });

  it('has the prefix of all routes', async () => {
    await using project = await projectWith({ http: { mount_prefix: '/agents' } });
    await using mounted = await startTestServer({ project: project.file, executors: 'none' });
    const socket = await openSocket(mounted.url, randomUUID());
    expect(await socket.command('state.get')).toMatchObject({ error: 'invalid_argument' });
    socket.ws.close();
    const outside = mounted.url.replace('/agents', '');
    expect(await refusal(openSocket(outside, randomUUID()))).toMatchObject({ status: 404 });
  });

  it('counts as a stream of its caller', async () => {
    await using limited = await startTestServer({ settings: { streamsMax: 2 }, executors: 'none' });
    const open = () => openSocket(limited.url, randomUUID());
    const [first, second] = [await open(), await open()];
    expect(await refusal(open())).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    first.ws.close();
    await first.closed;
    const third = await eventually(open);
    for (const { ws } of [second, third]) ws.close();
  });
});
