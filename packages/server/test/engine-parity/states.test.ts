// What the API shows of a thread is what the bare engine shows, after the same operations on the same graph.
import { fileURLToPath } from 'node:url';
import { Command, MemorySaver } from '@langchain/langgraph';
import { type Client, createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { createStorage } from '../../src/storage/storage.ts';
import { withCheckpointer } from '../engine-copy.ts';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';
import { functions, memory, optional, questions } from './graphs.ts';
import { conflict, fanout, functional, half, noted, outer, pair, two } from './state-graphs.ts';

const server = fixture(() =>
  startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) }),
);

const client = fixture(() => createClient({ apiUrl: server.url }));

interface Snapshot {
  values: unknown;
  next: string[];
  config: object;
  metadata?: { step?: number; source?: string };
  tasks: { name: string; state?: Snapshot | object }[];
}

/** What is used of a graph here; each has types of its own. */
interface Engine {
  invoke(input: unknown, config: object): Promise<unknown>;
  updateState(config: object, values: unknown, asNode?: string): Promise<unknown>;
  getState(config: object, options?: object): Promise<Snapshot>;
  getStateHistory(config: object): AsyncIterable<Snapshot>;
}

const graphs = {
  conflict,
  fanout,
  functional,
  functions,
  half,
  memory,
  noted,
  optional,
  outer,
  pair,
  questions,
  two,
};

type GraphName = keyof typeof graphs;

type Durability = 'sync' | 'async' | 'exit';

/** The graph with a saver of the engine. */
const engineOf = (name: GraphName): Engine => withCheckpointer(graphs[name], new MemorySaver());
const at = { configurable: { thread_id: '1' } };

type Operation =
  /** `from`: the place in the history, newest first, of the checkpoint from which the run starts. */
  | { input: unknown; from?: number }
  | { resume: unknown; update?: Record<string, unknown>; goto?: string; from?: number }
  | { goto: string }
  | { update: Record<string, unknown>; as_node?: undefined }
  | { update: Record<string, unknown>; as_node: string; from?: number };

const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? {}));

/** Nodes of a superstep have no order. */
const sorted = (names: string[]): string[] => names.toSorted();

interface Shown {
  values: unknown;
  next: string[];
}

interface View {
  head: Shown;
  byId: Shown;
  within: Record<string, Shown>;
  history: (Shown & { step: unknown; source: unknown })[];
}

const historyOf = async (engine: Engine): Promise<Snapshot[]> => {
  const found: Snapshot[] = [];
  for await (const state of engine.getStateHistory(at)) found.push(state);
  return found;
};

const ofEngine = (state: Snapshot): Shown => ({ values: shown(state.values), next: sorted(state.next) });

const viewOfEngine = async (engine: Engine): Promise<View> => {
  const head = await engine.getState(at, { subgraphs: true });
  const within = head.tasks.flatMap(({ name, state }) =>
    state && 'values' in state ? [[name, ofEngine(state)] as const] : [],
  );
  return {
    head: ofEngine(head),
    byId: ofEngine(await engine.getState(head.config)),
    within: Object.fromEntries(within),
    history: (await historyOf(engine)).map((state) => ({
      ...ofEngine(state),
      step: state.metadata?.step,
      source: state.metadata?.source,
    })),
  };
};

type CommandOperation = Extract<Operation, { resume: unknown } | { goto: string } | { as_node?: undefined }>;

const commandOf = (operation: CommandOperation & { from?: number }) => {
  const { from: _, ...command } = operation;
  return command;
};

const runInEngine = async (engine: Engine, operation: Operation, durability: Durability): Promise<void> => {
  const from = 'from' in operation && operation.from !== undefined ? operation.from : undefined;
  const config = from === undefined ? at : ((await historyOf(engine))[from]?.config ?? at);
  if ('as_node' in operation && operation.as_node !== undefined)
    await engine.updateState(config, operation.update, operation.as_node);
  else {
    const input = 'input' in operation ? operation.input : new Command(commandOf(operation));
    await engine.invoke(input, { ...config, durability }).catch(() => undefined);
  }
};

type State = Awaited<ReturnType<Client['threads']['getState']>>;

const ofServer = (state: State): Shown => ({ values: state.values, next: sorted(state.next) });

const viewOfServer = async (thread_id: string): Promise<View> => {
  const head = await client.threads.getState(thread_id, { subgraphs: true });
  const within = head.tasks.flatMap(({ name, state }) => (state ? [[name, ofServer(state)] as const] : []));
  return {
    head: ofServer(head),
    byId: ofServer(await client.threads.getState(thread_id, { checkpointId: head.checkpoint_id ?? '' })),
    within: Object.fromEntries(within),
    history: (await client.threads.getHistory(thread_id, { limit: 100 })).map((state) => {
      const { step, source } = state.metadata as { step: unknown; source: unknown };
      return { ...ofServer(state), step, source };
    }),
  };
};

const runInServer = async (
  thread_id: string,
  graph: GraphName,
  operation: Operation,
  durability: Durability,
): Promise<void> => {
  const from = 'from' in operation ? operation.from : undefined;
  const history = from === undefined ? [] : await client.threads.getHistory(thread_id, { limit: 100 });
  const checkpoint = from === undefined ? undefined : history[from]?.checkpoint;
  if ('as_node' in operation && operation.as_node !== undefined) {
    const { update: values, as_node } = operation;
    await client.threads.updateState(thread_id, {
      values,
      asNode: as_node,
      ...(checkpoint?.checkpoint_id ? { checkpointId: checkpoint.checkpoint_id } : {}),
    });
    return;
  }
  const work = 'input' in operation ? { input: operation.input } : { command: commandOf(operation) };
  await client.runs
    .wait(thread_id, graph, {
      ...(work as { input: Record<string, unknown> }),
      durability,
      ...(checkpoint ? { checkpoint } : {}),
    })
    .catch(() => undefined);
};

/** Compares everything that is shown of the thread after each operation. */
const compare = async (
  graph: GraphName,
  operations: Operation[],
  durability: Durability = 'async',
): Promise<{ thread_id: string; view: View }> => {
  const engine = engineOf(graph);
  const { thread_id } = await client.threads.create({ metadata: { graph_id: graph } });
  let view: View | undefined;
  for (const operation of operations) {
    await runInEngine(engine, operation, durability);
    await runInServer(thread_id, graph, operation, durability);
    const expected = await viewOfEngine(engine);
    view = await viewOfServer(thread_id);
    expect(view).toEqual(expected);
    const thread = await client.threads.get(thread_id);
    expect(thread.values).toEqual(expected.head.values);
    const [found] = await client.threads.search({ ids: [thread_id], select: ['values'] });
    expect(found?.values).toEqual(expected.head.values);
  }
  if (!view) throw new Error('No operation');
  return { thread_id, view };
};

describe.each(['async', 'sync', 'exit'] as const)('with durability %s', (durability) => {
  it('values of a delta channel are complete after runs and answers', async () => {
    const operations = [
      { input: { notes: ['hello'] } },
      { input: { notes: ['ask me'], topic: 'a' } },
      { resume: 'yes' },
      { input: { notes: ['and more'] } },
    ];
    const { view } = await compare('noted', operations, durability);
    expect(view.head.values).toMatchObject({
      notes: expect.arrayContaining(['hello', 'said yes', 'and more']),
    });
  });

  it('values of a delta channel are complete after state updates', async () => {
    await compare(
      'noted',
      [
        { input: { notes: ['ask me'] } },
        { update: { notes: ['this'] }, as_node: '__start__' },
        { input: null },
        { update: { notes: ['and this'] }, as_node: 'ask' },
        { input: { notes: ['at last'] } },
      ],
      durability,
    );
  });

  it('the state has what the finished tasks of a waiting superstep wrote', async () => {
    const { view } = await compare('two', [{ input: {} }, { resume: 'yes' }, { input: {} }], durability);
    expect(view.head).toMatchObject({ next: ['ask'], values: { notes: ['fast', 'fast'] } });
    expect(view.byId.next).toEqual(['ask', 'fast']);
  });

  it('the state has what a task wrote beside one that failed', async () => {
    await compare('half', [{ input: {} }, { input: null }], durability);
  });

  it('the state has the update of an answer after which the node asks again', async () => {
    const answer = { resume: 'one', update: { topic: 'new', notes: ['noted'] } };
    const begin = { input: { topic: 'old' } };
    const { view } = await compare('pair', [begin, answer], durability);
    expect(view.byId.values).toMatchObject({ topic: 'new', notes: ['noted'] });
    await compare('pair', [begin, answer, { resume: 'two' }], durability);
  });

  it('the state of a waiting subgraph has what its finished tasks wrote', async () => {
    const { view } = await compare('outer', [{ input: { notes: ['a'] } }, { resume: 'yes' }], durability);
    expect(view.within).toEqual({});
  });
});

it.each(['async', 'sync', 'exit'] as const)(
  'a checkpoint has the values and the next nodes of a command, with durability %s',
  async (durability) => {
    const begin = { input: { topic: 'old' } };
    const { view } = await compare('outer', [begin, { resume: 'yes' }, { goto: 'begin' }], durability);
    expect(view.history.some(({ next, step }) => step === 2 && next.includes('begin'))).toBe(
      durability !== 'exit',
    );
    await compare('outer', [begin, { resume: 'yes', update: { topic: 'new' }, goto: 'begin' }], durability);
    await compare('noted', [begin, { update: { notes: ['this'] } }], durability);
  },
);

it('the state after a superstep that could not be applied has the tasks that are left, with durability exit', async () => {
  const { view } = await compare('conflict', [{ input: { topic: 'a' } }, { input: null }], 'exit');
  expect(view.head.next).toEqual([]);
});

it('values of a delta channel are complete after forks', async () => {
  await compare('noted', [
    { input: { notes: ['a'] } },
    { input: { notes: ['b'] } },
    { input: null, from: 5 },
    { update: { notes: ['c'] }, as_node: 'read', from: 3 },
    { input: null },
  ]);
});

it('an answer at an older checkpoint does not change the branch that has followed', async () => {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'noted', { input: { notes: ['ask'] } });
  const asked = await client.threads.getState(thread_id);
  await client.threads.updateState(thread_id, { values: { topic: 'new' }, asNode: 'read' });
  const { checkpoint: followed } = await client.threads.getState(thread_id);
  const answerAt = async (resume: string, { checkpoint_id }: typeof followed): Promise<unknown> => {
    const command = { resume };
    const checkpoint = { checkpoint_ns: '', checkpoint_id: checkpoint_id ?? '' };
    const result = await client.runs.wait(thread_id, 'noted', { command, checkpoint });
    return (result as { notes: unknown }).notes;
  };
  expect(await answerAt('yes', asked.checkpoint)).toEqual(['ask', 'read 1', 'said yes']);
  const checkpointId = followed.checkpoint_id ?? '';
  const { values } = await client.threads.getState(thread_id, { checkpointId });
  expect(values).toMatchObject({ notes: ['ask', 'read 1'] });
  expect(await answerAt('no', followed)).toEqual(['ask', 'read 1', 'said no']);
});

it('the values of delta channels that a command gives to an empty thread stay', async () => {
  const { thread_id } = await client.threads.create();
  const command = { update: { notes: ['given'] }, goto: 'read' };
  const first = await client.runs.wait(thread_id, 'noted', { command });
  expect(first).toMatchObject({ notes: ['given', 'read 1'] });
  const second = await client.runs.wait(thread_id, 'noted', {
    command: { ...command, update: { notes: ['b'] } },
  });
  expect(second).toMatchObject({ notes: ['given', 'read 1', 'b', 'read 3'] });
  const history = await client.threads.getHistory(thread_id);
  expect(history.map((state) => (state.values as { notes: string[] }).notes[0])).toEqual(
    history.map(() => 'given'),
  );
});

it('a command with durability exit keeps what an earlier command has given to the empty thread', async () => {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'noted', { command: { update: { notes: ['given'] }, goto: 'read' } });
  const update = { notes: ['more'] };
  await client.runs.wait(thread_id, 'noted', { command: { update }, durability: 'exit' });
  const { values } = await client.threads.getState(thread_id);
  expect(values).toMatchObject({ notes: ['given', 'read 1', 'more'] });
});

it('a thread keeps the question of its newest checkpoint when an older one is answered and asks again', async () => {
  const begin = { input: {} };
  const { thread_id } = await compare('pair', [begin, begin, { resume: 'one', from: 2 }]);
  const { status, interrupts } = await client.threads.get(thread_id);
  const { tasks } = await client.threads.getState(thread_id);
  expect({ status, interrupts }).toEqual({
    status: 'interrupted',
    interrupts: Object.fromEntries(tasks.map((task) => [task.id, task.interrupts])),
  });
  expect(Object.values(interrupts ?? {}).flat()).toMatchObject([{ value: 'First?' }]);
});

it('the state of a graph of the functional API is its value', async () => {
  await compare('functional', [{ input: 'a' }, { input: 'b' }]);
  await compare('functional', [{ input: 'ask' }, { resume: 'yes' }]);
});

it('a copy of a thread has its values', async () => {
  const { thread_id, view } = await compare('two', [{ input: { notes: ['a'] } }]);
  const copy = await client.threads.copy(thread_id);
  expect(await viewOfServer(copy.thread_id)).toEqual(view);
});

it('a search by values finds what a delta channel and finished tasks have', async () => {
  const { thread_id } = await compare('two', [{ input: { notes: ['sought'] } }]);
  const values = { notes: ['sought', 'fast'] };
  const found = await client.threads.search({ ids: [thread_id], values });
  expect(found.map((thread) => thread.thread_id)).toEqual([thread_id]);
});

it('a pruned thread keeps its values when garbage is collected', async () => {
  const note = (name: string): string => `${name} ${'.'.repeat(100)}`;
  const { thread_id, view } = await compare('two', [{ input: { notes: [note('a'), note('b')] } }]);
  await client.threads.prune([thread_id], { strategy: 'keep_latest' });
  const { pruning } = createStorage(server.database);
  expect(await pruning.collect(thread_id, 1_000)).not.toBeNull();
  expect((await viewOfServer(thread_id)).head).toEqual(view.head);
  const usage = await client.threads.getStorage(thread_id);
  expect(usage.channel_values.by_channel['notes']?.bytes).toBeGreaterThan(200);
});

it('a checkpoint without a recorded state is read without these values', async () => {
  const { thread_id } = await compare('two', [{ input: { notes: ['a'] } }]);
  const forget = `delete from checkpoint_writes where task_id = '__state__' and thread_id = $1`;
  await server.database.query({ name: 'forget_states', text: forget }, [thread_id]);
  const { head, history } = await viewOfServer(thread_id);
  expect(head).toEqual({ values: { log: [] }, next: ['ask', 'fast'] });
  expect(history).toHaveLength(2);
  await runInServer(thread_id, 'two', { resume: 'yes' }, 'async');
  expect((await viewOfServer(thread_id)).head.values).toMatchObject({ notes: ['a', 'fast'] });
});

it('rolling back a run restores the state that its finished tasks had changed', async () => {
  const answer = { resume: 'one', update: { topic: 'new' } };
  const { thread_id } = await compare('pair', [{ input: { topic: 'old' } }]);
  const before = await viewOfServer(thread_id);
  await runInServer(thread_id, 'pair', answer, 'async');
  expect((await viewOfServer(thread_id)).head.values).toMatchObject({ topic: 'new' });
  const [run] = await client.runs.list(thread_id);
  await client.runs.delete(thread_id, run?.run_id ?? '');
  expect(await viewOfServer(thread_id)).toEqual(before);
});

it.each([[['values']], [['values', 'updates', 'tasks', 'messages-tuple']]] as const)(
  'the next nodes and the writes of each checkpoint are recorded with stream modes %j',
  async (modes) => {
    const { thread_id } = await client.threads.create();
    const stream = client.runs.stream(thread_id, 'fanout', { input: {}, stream_mode: [...modes] });
    for await (const event of stream) expect(event.event).not.toBe('error');
    const history = await client.threads.getHistory(thread_id, { limit: 100 });
    const found = history.map(({ next, metadata }) => [
      (metadata as { step: number }).step,
      [...new Set(next)],
      Object.keys((metadata as { writes?: object }).writes ?? {}),
    ]);
    expect(found).toEqual([
      [3, [], ['reduce']],
      [2, ['reduce'], ['each']],
      [1, ['each'], []],
      [0, ['plan'], []],
      [-1, ['__start__'], ['__start__']],
    ]);
  },
);

it('a command ends with success where an earlier command with durability exit has written to the same checkpoint', async () => {
  const { thread_id } = await client.threads.create();
  const commands = [
    { command: { update: { log: ['updated'] }, goto: 'ask' }, durability: 'async' },
    { command: { update: { topic: 'plain' } }, durability: 'exit' },
    { command: { update: { topic: 'plain' }, goto: 'ask' }, durability: 'async' },
  ] as const;
  for (const command of commands) await client.runs.wait(thread_id, 'noted', command);
  const runs = await client.runs.list(thread_id);
  expect(runs.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
});

// Threads of the server are in the states that the bare engine reaches, with the same graph and the same commands.

const questionsIn = (result: unknown): unknown[] =>
  ((result as { __interrupt__?: { value: unknown }[] }).__interrupt__ ?? []).map(({ value }) => value);

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

describe('a run from an older checkpoint', () => {
  it('asks again in a subgraph with a memory of its own', async () => {
    const engine = engineOf('memory');
    await engine.invoke({}, at);
    const asked = await engine.getState(at);
    await engine.invoke(new Command({ resume: 'yes' }), at);
    const replayed = await engine.invoke(null, asked.config);

    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'memory', { input: {} });
    const { checkpoint } = await client.threads.getState(thread_id);
    await client.runs.wait(thread_id, 'memory', { command: { resume: 'yes' } });
    const result = await client.runs.wait(thread_id, 'memory', { input: null, checkpoint });
    expect(questionsIn(result)).toEqual(questionsIn(replayed));
    expect(questionsIn(result)).toEqual(['May I?']);
    const [run] = await client.runs.list(thread_id);
    expect(run).toMatchObject({ attempt: 1 });
  });

  it('asks again in nested subgraphs, each time', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'nested', { input: {} });
    const { checkpoint } = await client.threads.getState(thread_id);
    await client.runs.wait(thread_id, 'nested', { command: { resume: 'yes' } });
    await client.runs.wait(thread_id, 'nested', { input: null, checkpoint });
    const head = await client.threads.getState(thread_id);
    const again = await client.runs.wait(thread_id, 'nested', { input: null, checkpoint: head.checkpoint });
    expect(questionsIn(again)).toEqual(['Sure?']);
  });

  it('executes each node once when the input is another', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'memory', { input: {} });
    await client.runs.wait(thread_id, 'memory', { command: { resume: 'yes' } });
    const first = (await client.threads.getHistory(thread_id, { limit: 100 })).at(-1);
    await client.runs.wait(thread_id, 'memory', { input: {}, checkpoint: first?.checkpoint ?? {} });
    const [run] = await client.runs.list(thread_id);
    expect(run).toMatchObject({ attempt: 1 });
  });
});

describe('a question', () => {
  it.each(['async', 'sync', 'exit'] as const)('is open with durability %s', async (durability) => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'question', { input: {}, durability });
    const { interrupts } = await client.threads.get(thread_id);
    expect(
      Object.values(interrupts ?? {})
        .flat()
        .map(({ value }) => value),
    ).toEqual(['Ok?']);
    const waiting = await client.threads.search({ ids: [thread_id], has_interrupts: true });
    expect(waiting).toHaveLength(1);
  });
});

describe('questions of one superstep', () => {
  it('are all in the result of the run', async () => {
    const asked = await engineOf('questions').invoke({}, at);
    const result = await client.runs.wait(await newThread(), 'questions', { input: {} });
    expect(questionsIn(result)).toEqual(questionsIn(asked));
    expect(questionsIn(result)).toEqual(['First?', 'Second?']);
  });
});

describe('a value', () => {
  it.each(['functions', 'optional'] as const)('is stored as by the engine: %s', async (name) => {
    const engine = engineOf(name);
    await engine.invoke({}, at);
    const { values } = await engine.getState(at);
    const thread_id = await newThread();
    await client.runs.wait(thread_id, name, { input: {} });
    const state = await client.threads.getState(thread_id);
    expect(state.values).toEqual(JSON.parse(JSON.stringify(values)));
    expect(Object.keys(state.values as object)).toEqual(
      Object.keys(JSON.parse(JSON.stringify(values)) as object),
    );
  });
});
