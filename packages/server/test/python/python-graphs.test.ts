// Python graphs on a server, driven by the stock JavaScript client.
import { Client } from '@langchain/langgraph-sdk';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../collect.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { runPython, whyNoPythonClients } from '../python-clients/python.ts';
import { startTestServer } from '../server.ts';

const project = fileURLToPath(new URL('graphs/svc.json', import.meta.url));

const key = 'a-key-for-python-traces-0123456789-0123';

describe.skipIf(whyNoPythonClients() !== undefined)('Python graphs', () => {
  const server = fixture(() =>
    startTestServer({
      project,
      executors: 'ready',
      settings: { tracing: 'on', bootstrapApiKey: key },
    }),
  );
  let client: Client;
  beforeAll(() => {
    client = new Client({ apiUrl: server.url, timeoutMs: 30_000 });
  });

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const human = (content: string) => ({ messages: [{ role: 'user', content }] });
  const items = { input: { items: ['start'] } };
  type Items = { items: string[] };

  it('a run executes the graph, and its state and history are read', async () => {
    const thread = await newThread();
    const result = await client.runs.wait(thread, 'echo', { input: human('hi') });
    const messages = [
      { type: 'human', content: 'hi' },
      { type: 'ai', content: 'echo: hi' },
    ];
    expect(result).toMatchObject({ messages });
    await client.runs.wait(thread, 'echo', { input: human('again') });
    const state = await client.threads.getState(thread);
    expect(state).toMatchObject({ next: [], metadata: { source: 'loop', step: 4 } });
    expect((state.values as { messages: unknown[] }).messages).toHaveLength(4);
    const history = await client.threads.getHistory(thread);
    expect(history.map(({ metadata }) => metadata?.['step'])).toEqual([4, 3, 2, 1, 0, -1]);
    expect(history[3]).toMatchObject({ values: { messages }, next: [] });
  });

  it('graphs of both languages continue one thread', async () => {
    const thread = await newThread();
    for (const graph of ['echo', 'echo-js', 'echo'])
      await client.runs.wait(thread, graph, { input: human(graph) });
    const { values } = await client.threads.getState<{ messages: { content: string }[] }>(thread);
    expect(values.messages.map(({ content }) => content)).toEqual([
      'echo',
      'echo: echo',
      'echo-js',
      'echo: echo-js',
      'echo',
      'echo: echo',
    ]);
  });

  it('a stateless run leaves no thread', async () => {
    expect(await client.runs.wait(null, 'echo', { input: human('hi') })).toMatchObject({
      messages: [{}, {}],
    });
    expect(await client.runs.wait(null, 'ask', items)).toMatchObject({ __interrupt__: [{ value: {} }] });
  });

  it('every stream mode has its events', async () => {
    const streamMode = [
      'values',
      'updates',
      'messages-tuple',
      'custom',
      'checkpoints',
      'tasks',
      'debug',
    ] as const;
    const thread = await newThread();
    const events = await collect(
      client.runs.stream(thread, 'model', { input: human('hi'), streamMode: [...streamMode] }),
    );
    const of = (name: string) =>
      events.filter(({ event }) => event === name).map(({ data }) => data as unknown);
    expect(of('values').at(-1)).toMatchObject({
      messages: [{ content: 'hi' }, { content: 'one two three' }],
    });
    expect(of('updates')).toEqual([
      { say: { messages: [expect.objectContaining({ content: 'one two three' })] } },
    ]);
    expect(of('custom')).toEqual([{ progress: 'begins' }]);
    const tokens = of('messages') as [{ content: string; type: string }, Record<string, unknown>][];
    expect(tokens.map(([{ content }]) => content).join('')).toBe('one two three');
    expect(tokens[0]).toMatchObject([{ type: 'AIMessageChunk' }, { langgraph_node: 'say' }]);
    expect(of('tasks')).toMatchObject([
      { name: 'say', input: {} },
      { name: 'say', result: {} },
    ]);
    const checkpoints = of('checkpoints') as {
      metadata: { step: number };
      checkpoint: { checkpoint_id: string };
    }[];
    expect(checkpoints.map(({ metadata }) => metadata.step)).toEqual([-1, 0, 1]);
    const history = await client.threads.getHistory(thread);
    expect(history.map(({ checkpoint }) => checkpoint.checkpoint_id).toReversed()).toEqual(
      checkpoints.map(({ checkpoint }) => checkpoint.checkpoint_id),
    );
    expect(of('debug')).toContainEqual(expect.objectContaining({ type: 'task_result' }));
  });

  it('stream modes messages and events follow a model', async () => {
    const partial = await collect(
      client.runs.stream(null, 'model', { input: human('hi'), streamMode: 'messages' }),
    );
    const contents = partial
      .filter(({ event }) => (event as string) === 'messages/partial')
      .map(({ data }) => (data as unknown as { content: string }[])[0]?.content);
    expect(contents).toContain('one two');
    expect(partial.map(({ event }) => event as string)).toContain('messages/metadata');
    // As the stock Python server: the last partial message is the complete one.
    expect(partial.map(({ event }) => event as string)).not.toContain('messages/complete');
    const events = await collect(
      client.runs.stream(null, 'model', { input: human('hi'), streamMode: ['events', 'values'] }),
    );
    const names = events
      .filter(({ event }) => event === 'events')
      .map(({ data }) => (data as { event: string }).event);
    expect(names).toContain('on_chat_model_stream');
    expect(events.filter(({ event }) => event === 'values')).toHaveLength(2);
  });

  it('an interrupt is answered, and the run continues', async () => {
    const thread = await newThread();
    const asked = await client.runs.wait(thread, 'ask', items);
    const value = { question: 'go on?', 'so far': ['start', 'before'] };
    expect(asked).toMatchObject({ items: ['start', 'before'], __interrupt__: [{ value }] });
    const waiting = await client.threads.get(thread);
    expect(waiting.status).toBe('interrupted');
    expect(Object.values(waiting.interrupts ?? {})).toMatchObject([[{ value }]]);
    const state = await client.threads.getState(thread);
    expect(state).toMatchObject({ next: ['ask'], tasks: [{ name: 'ask', interrupts: [{ value }] }] });
    const result = await client.runs.wait(thread, 'ask', { command: { resume: 'yes' } });
    expect(result).toEqual({ items: ['start', 'before', 'answered yes', 'after'] });
    expect((await client.threads.get(thread)).status).toBe('idle');
  });

  it('an interrupt in a subgraph is answered', async () => {
    const thread = await newThread();
    const events = await collect(
      client.runs.stream(thread, 'outer', { ...items, streamMode: 'updates', streamSubgraphs: true }),
    );
    expect(events.map(({ event }) => (event as string).replace(/:.*/, ''))).toContain('updates|inner');
    const state = await client.threads.getState(thread, undefined, { subgraphs: true });
    expect(state).toMatchObject({
      next: ['inner'],
      tasks: [{ name: 'inner', state: { next: ['ask'], values: { items: ['start', 'before'] } } }],
    });
    const result = await client.runs.wait(thread, 'outer', { command: { resume: 'yes' } });
    expect((result as Items).items).toContain('answered yes');
  });

  it('a state is updated, and a run forks from an earlier checkpoint', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'ask', items);
    await client.threads.updateState(thread, { values: { items: ['by hand'] }, asNode: 'ask' });
    const updated = await client.threads.getState<Items>(thread);
    expect(updated).toMatchObject({ next: ['after'], values: { items: ['start', 'before', 'by hand'] } });
    expect(await client.runs.wait(thread, 'ask', { input: null })).toEqual({
      items: ['start', 'before', 'by hand', 'after'],
    });
    const history = await client.threads.getHistory<Items>(thread);
    const fork = history.find(({ next }) => next[0] === 'ask');
    const asked = await client.runs.wait(thread, 'ask', {
      input: null,
      checkpoint: fork?.checkpoint as never,
    });
    expect(asked).toMatchObject({ items: ['start', 'before'], __interrupt__: [{}] });
  });

  it('interruptBefore stops at a node, and Send starts tasks', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'send', { ...items, interruptBefore: ['work'] });
    const state = await client.threads.getState(thread);
    expect(state.next).toEqual(['work', 'work', 'work']);
    const result = (await client.runs.wait(thread, 'send', { input: null })) as Items;
    expect(result.items).toEqual(['start', 'before', 'worked on a', 'worked on b', 'worked on c']);
  });

  it('nodes use the store, also synchronously', async () => {
    const result = (await client.runs.wait(await newThread(), 'store', items)) as Items;
    expect(result.items).toEqual(['start', 'stored start', '1 of store', 'recalled start']);
    expect(await client.store.getItem(['notes'], 'last')).toMatchObject({ value: { items: ['start'] } });
  });

  it('a function makes the graph of each run with its config', async () => {
    const thread = await newThread();
    const config = { configurable: { greeting: 'good day' } };
    const result = (await client.runs.wait(thread, 'made', { ...items, config })) as Items;
    expect(result.items).toEqual(['start', 'good day once']);
    expect(await client.threads.getState(thread)).toMatchObject({
      next: [],
      values: { items: result.items },
    });
    await client.threads.updateState(thread, { values: { items: ['more'] }, asNode: 'greet' });
    expect(await client.threads.getState(thread)).toMatchObject({ next: [] });
  });

  it('a function of the functional API waits, and knows its last result', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'function', { input: [1, 2] as never });
    expect(await client.runs.wait(thread, 'function', { command: { resume: 10 } })).toEqual({ total: 16 });
    await client.runs.wait(thread, 'function', { input: [1] as never });
    expect(await client.runs.wait(thread, 'function', { command: { resume: 0 } })).toEqual({ total: 18 });
  });

  it('an agent calls its tool', async () => {
    const thread = await newThread();
    const result = await client.runs.wait(thread, 'agent', { input: human('How is the weather in Rome?') });
    expect(result).toMatchObject({
      messages: [
        { type: 'human' },
        { type: 'ai', tool_calls: [{ name: 'weather', args: { city: 'Rome' } }] },
        { type: 'tool', content: 'sunny in Rome', tool_call_id: 'call-1' },
        { type: 'ai', content: 'It is sunny.' },
      ],
    });
  });

  it('a graph has its context, and is opened and closed for each run', async () => {
    const context = { name: 'Ada' };
    const greeted = await client.runs.wait(await newThread(), 'context', { input: { items: [] }, context });
    expect(greeted).toEqual({ items: ['hello Ada', 'True'] });
    const configurable = { name: 'Ben', unknown: 1 };
    expect(
      await client.runs.wait(null, 'context', { input: { items: [] }, config: { configurable } }),
    ).toMatchObject({ items: ['hello Ben', expect.any(String)] });
    const open = (): Promise<unknown> => client.runs.wait(null, 'opened', { input: { items: [] }, context });
    expect(await open()).toMatchObject({
      items: ['threads.create_run', "{'name': 'Ada'}", 'open'],
    });
    expect(await open()).toMatchObject({
      items: [{}, {}, 'open', 'closed', 'open'].map(() => expect.any(String)),
    });
  });

  it('a subgraph with a memory of its own remembers earlier runs', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'memory', { input: { items: ['a'] } });
    await client.runs.wait(thread, 'memory', { input: { items: ['b'] } });
    const state = await client.threads.getState<Items>(thread);
    expect(state.values.items.at(-1)).toBe('6');
  });

  it('delta channels are rebuilt from what was written', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'delta', { input: { log: ['first'] } });
    await client.runs.wait(thread, 'delta', { input: { log: ['second'] } });
    const log = ['first', 'after 1', 'after 2', 'second', 'after 4', 'after 5'];
    expect(await client.threads.getState(thread)).toMatchObject({ values: { log, kept: 'yes' } });
    const history = await client.threads.getHistory(thread);
    expect(history[3]).toMatchObject({ values: { log: ['first', 'after 1', 'after 2'] } });
  });

  it('a node is tried again by its retry policy', async () => {
    expect(await client.runs.wait(null, 'retry', { input: { items: [] } })).toEqual({ items: ['try 3'] });
  });

  it.for(['sync', 'async', 'exit'] as const)('with durability %s the state is stored', async (durability) => {
    const thread = await newThread();
    await client.runs.wait(thread, 'steps', { ...items, durability });
    const history = await client.threads.getHistory(thread);
    expect(history[0]).toMatchObject({ values: { items: ['start', 'one', 'two', 'three', 'four'] } });
    expect(history).toHaveLength(durability === 'exit' ? 1 : 6);
  });

  it.for([
    ['raise', 'ValueError', 'this is wrong'],
    ['exit', 'SystemExit', '3'],
    ['interrupt', 'KeyboardInterrupt', ''],
    ['value', 'ValueNotStored', 'items[0] is of type object'],
    ['cycle', 'ValueNotStored', 'a cycle cannot be stored'],
    ['cancel', 'NodeCancelledError', 'raised asyncio.CancelledError'],
    ['store', 'RuntimeError', 'await its asynchronous form, such as store.aget()'],
    ['forever', 'GraphRecursionError', 'Recursion limit of 5 reached'],
  ] as const)('a node that does "%s" ends the run with an error', async ([how, error, message]) => {
    const thread = await newThread();
    const failed = await client.runs.wait(thread, 'fail', {
      input: { how },
      config: { recursion_limit: 5 },
      raiseError: false,
    });
    expect(failed).toMatchObject({ __error__: { error, message: expect.stringContaining(message) } });
    expect(await client.runs.wait(thread, 'fail', { input: { how: 'nothing' } })).toMatchObject({
      items: ['done'],
    });
  });

  it('a state that cannot be stored is named, also when only its reducer has made it so', async () => {
    const failed = await client.runs.wait(await newThread(), 'unstorable', { input: {}, raiseError: false });
    const message = expect.stringMatching(/^values\.second\[\d\] is of type object, which cannot be stored/);
    expect(failed).toMatchObject({ __error__: { error: 'ValueNotStored', message } });
  });

  it.for(['fail', 'hold'])('a run is cancelled while a node waits: graph %s', async (graph) => {
    const thread = await newThread();
    const { run_id } = await client.runs.create(thread, graph, { input: { how: 'wait', items: [] } });
    await eventually(async () =>
      expect(await client.threads.getState(thread)).toMatchObject({ next: [graph] }),
    );
    await client.runs.cancel(thread, run_id, true);
    expect(await client.runs.get(thread, run_id)).toMatchObject({ status: 'interrupted' });
  });

  it('graphs are drawn, and their schemas and subgraphs are listed', async () => {
    const graph = await client.assistants.getGraph('outer');
    expect(graph.nodes.map(({ id }) => id)).toEqual(['__start__', 'before', 'inner', '__end__']);
    expect(await client.assistants.getSchemas('echo')).toMatchObject({
      graph_id: 'echo',
      input_schema: { properties: { messages: {} } },
      state_schema: { properties: { messages: {} } },
    });
    expect(Object.keys(await client.assistants.getSubgraphs('outer'))).toEqual(['inner']);
  });

  it('a graph that cannot be imported does not disturb the others, and its error names the line', async () => {
    const failed = await client.runs.wait(null, 'broken', { input: {}, raiseError: false });
    const message = expect.stringMatching(
      /broken\.py:7: ModuleNotFoundError: No module named 'no_such_package'\. Install it \(.*pip install no-such-package\)/,
    );
    expect(failed).toMatchObject({ __error__: { message } });
  });

  it('a graph of the other language does not continue open tasks', async () => {
    const thread = await newThread();
    await client.runs.wait(thread, 'echo', { input: human('hi'), interruptBefore: ['echo'] });
    const refused = await client.runs.wait(thread, 'echo-js', { input: null, raiseError: false });
    const message = expect.stringContaining('waits in the Python graph "echo"');
    expect(refused).toMatchObject({ __error__: { message } });
    expect(await client.runs.wait(thread, 'echo', { input: null })).toMatchObject({ messages: [{}, {}] });
  });

  it('the stock Python client runs, streams, answers and reads', async () => {
    expect(await runPython('../python/sdk.py', server.url)).toEqual({
      events: ['custom', 'messages', 'metadata', 'updates', 'values'],
      messages: ['hi', 'one two three'],
      asked: 'go on?',
      answered: ['start', 'before', 'start', 'before', 'answered yes'],
      steps: [2, 1, 0, -1],
      streamed: { messages: ['one two three'], custom: [{ progress: 'begins' }] },
    });
  });

  it('a run has a trace with the steps of its graph', async () => {
    interface Step {
      id: string;
      name: string;
      status: string;
      dotted_order: string;
      outputs: object | null;
    }
    const traceOf = async (trace: string): Promise<Step[]> => {
      const headers = { 'x-api-key': key };
      const { body } = await server.call('POST', '/api/v1/runs/query', { trace }, headers);
      const { runs } = body as { runs: Step[] };
      return runs.toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
    };
    const thread = await newThread();
    const { run_id } = await client.runs.create(thread, 'model', { input: human('hi') });
    await client.runs.join(thread, run_id);
    await eventually(async () =>
      expect((await traceOf(run_id)).map(({ name, status }) => `${name} ${status}`)).toEqual([
        'model success',
        'say success',
        'GenericFakeChatModel success',
      ]),
    );
    const [root, , model] = await traceOf(run_id);
    expect(root?.id).toBe(run_id);
    expect(model?.outputs).toMatchObject({ generations: [[{ text: 'one two three' }]] });
    const asked = await client.runs.create(await newThread(), 'ask', items);
    await eventually(async () =>
      expect((await traceOf(asked.run_id)).at(-1)).toMatchObject({
        name: 'ask',
        status: 'success',
        outputs: { __interrupt__: [{ value: { question: 'go on?' } }] },
      }),
    );
  });

  it('a node that prints, reads stdin or forks does not disturb the channel', async () => {
    expect(await client.runs.wait(null, 'fail', { input: { how: 'print' } })).toMatchObject({
      items: ['done'],
    });
    expect(await client.runs.wait(null, 'fail', { input: { how: 'fork' } })).toMatchObject({
      items: ['done'],
    });
  });
});
