// Threads whose graphs have subgraphs or calls are in the states that the bare engine reaches, with the same graph and the same commands.
import { fileURLToPath } from 'node:url';
import { Command, MemorySaver } from '@langchain/langgraph';
import { Client } from '@langchain/langgraph-sdk';
import { describe, expect, it } from 'vitest';
import { withCheckpointer } from '../../engine-copy.ts';
import { startTestServer } from '../../server.ts';
import { breakpoint, calls, deepMemory, failing, memory, nested, question, workflow } from './graphs.ts';
import { fixture } from '../../fixture.ts';

const server = fixture(() =>
  startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) }),
);
const client = fixture(() => new Client({ apiUrl: server.url }));

interface Snapshot {
  values: unknown;
  next: string[];
  tasks: { id: string; name: string; interrupts: { value?: unknown }[]; state?: unknown }[];
  config: { configurable: Record<string, unknown> };
}

/** What is used of a graph here; each has types of its own. */
interface Engine {
  invoke(input: unknown, config: object): Promise<Record<string, unknown>>;
  getState(config: object, options?: object): Promise<Snapshot>;
  getStateHistory(config: object): AsyncIterable<Snapshot>;
  updateState(config: object, values: unknown, asNode?: string): Promise<object>;
}

const graphs = { breakpoint, calls, deepMemory, failing, memory, nested, question, workflow };

type Name = keyof typeof graphs;

/** The graph with a saver of the engine. */
const engineOf = (name: Name): Engine => withCheckpointer(graphs[name], new MemorySaver());

const at = { configurable: { thread_id: '1' } };

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

interface State {
  values: unknown;
  next: string[];
  tasks: { name: string; interrupts: { value?: unknown }[]; state?: unknown }[];
}

/** What both say of a state, with those of its subgraphs. */
const seen = ({ values, next, tasks }: State): unknown => ({
  values,
  next,
  tasks: tasks.map(({ name, interrupts, state }) => ({
    name,
    questions: interrupts.map(({ value }) => value),
    state: state !== null && typeof state === 'object' && 'values' in state ? seen(state as State) : null,
  })),
});

const questionsIn = (result: unknown): unknown[] =>
  ((result as { __interrupt__?: { value: unknown }[] }).__interrupt__ ?? []).map(({ value }) => value);

/** The deepest state of a tree. */
const deepest = <S extends State>(state: S): S => {
  const inner = state.tasks[0]?.state as S | null | undefined;
  return inner && 'values' in inner ? deepest(inner) : state;
};

describe('a subgraph with a memory of its own', () => {
  it.each(['memory', 'deepMemory'] as const)('has the state of the engine: %s', async (name) => {
    const engine = engineOf(name);
    await engine.invoke({ log: ['first'] }, at);
    const expected = await engine.getState(at, { subgraphs: true });

    const thread_id = await newThread();
    await client.runs.wait(thread_id, name, { input: { log: ['first'] } });
    const state = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(seen(state)).toEqual(seen(expected));

    const { checkpoint } = deepest(state);
    const { configurable } = deepest(expected).config;
    expect(checkpoint.checkpoint_ns).toBe(configurable['checkpoint_ns']);
    expect(seen(await client.threads.getState(thread_id, checkpoint))).toEqual(
      seen(await engine.getState({ configurable })),
    );
  });

  it('is found by the namespace of its task', async () => {
    const engine = engineOf('memory');
    await engine.invoke({ log: ['first'] }, at);
    const task = (await engine.getState(at)).tasks[0]?.state as { configurable: object };
    const expected = await engine.getState(task);

    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'memory', { input: { log: ['first'] } });
    const { tasks } = await client.threads.getState(thread_id);
    const checkpoint_ns = tasks[0]?.checkpoint?.checkpoint_ns ?? '';
    expect(checkpoint_ns).toMatch(/^helper:/);
    expect(seen(await client.threads.getState(thread_id, { checkpoint_ns } as never))).toEqual(
      seen(expected),
    );

    const states: Snapshot[] = [];
    for await (const one of engine.getStateHistory(task)) states.push(one);
    const history = await client.threads.getHistory(thread_id, { checkpoint: { checkpoint_ns } as never });
    expect(history.map(({ values, next }) => [values, next])).toEqual(
      states.map(({ values, next }) => [values, next]),
    );
    expect(history.length).toBeGreaterThan(1);
  });
});

describe('a run from the checkpoint of a subgraph', () => {
  it.each(['nested', 'memory', 'deepMemory'] as const)('executes what the engine does: %s', async (name) => {
    const engine = engineOf(name);
    await engine.invoke({ log: ['first'] }, at);
    const asked = deepest(await engine.getState(at, { subgraphs: true }));
    await engine.invoke(new Command({ resume: 'yes' }), at);
    const replayed = await engine.invoke(null, asked.config);
    const answered = await engine.invoke(new Command({ resume: 'no' }), at);
    expect(questionsIn(replayed)).toHaveLength(1);

    const thread_id = await newThread();
    await client.runs.wait(thread_id, name, { input: { log: ['first'] } });
    const { checkpoint } = deepest(await client.threads.getState(thread_id, undefined, { subgraphs: true }));
    expect(checkpoint.checkpoint_ns).not.toBe('');
    const { checkpoint_ns, checkpoint_id } = checkpoint;
    await client.runs.wait(thread_id, name, { command: { resume: 'yes' } });
    const result = await client.runs.wait(thread_id, name, {
      input: null,
      checkpoint: { checkpoint_ns, checkpoint_id },
    } as never);
    expect(questionsIn(result)).toEqual(questionsIn(replayed));
    const done = await client.runs.wait(thread_id, name, { command: { resume: 'no' } });
    expect(done).toEqual(answered);
  });

  it('fails when there is no such checkpoint', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'nested', { input: { log: [] } });
    const run = await client.runs.create(thread_id, 'nested', {
      input: null,
      checkpoint: { checkpoint_ns: 'middle:1', checkpoint_id: '1f0c0000-0000-6000-8000-000000000000' },
    } as never);
    await client.runs.join(thread_id, run.run_id).catch(() => undefined);
    expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('1f0c0000-0000-6000-8000-000000000000') as string },
    });
  });
});

describe('a run that has failed', () => {
  it('shows the state of the subgraph that failed, as the engine has it by its namespace', async () => {
    const engine = engineOf('failing');
    await expect(engine.invoke({ log: [] }, at)).rejects.toThrow('It failed');
    const [failed] = (await engine.getState(at)).tasks;
    const configurable = { ...at.configurable, checkpoint_ns: `helper:${failed?.id}` };
    const expected = await engine.getState({ configurable });

    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'failing', { input: { log: [] }, raiseError: false });
    const { tasks } = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(tasks).toMatchObject([{ name: 'helper', error: 'It failed' }]);
    expect(seen(tasks[0]?.state as State)).toEqual(seen(expected));
    expect(expected.next).toEqual(['fails']);
  });

  it('leaves no checkpoint without its tasks of a subgraph that began beside the failed node', async () => {
    const thread_id = await newThread();
    // The subgraph of the second run reads from the database whether it has a checkpoint, and puts one when the run has failed.
    for (const log of [['first'], ['second']])
      await client.runs.wait(thread_id, 'besideFailure', { input: { log }, raiseError: false });
    const { tasks } = await client.threads.getState(thread_id);
    const helper = tasks.find(({ name }) => name === 'helper');
    const checkpoint_ns = helper?.checkpoint?.checkpoint_ns ?? '';
    expect(checkpoint_ns).toMatch(/^helper:/);
    const history = await client.threads.getHistory(thread_id, { checkpoint: { checkpoint_ns } });
    expect(history.filter(({ next }) => next.length === 0)).toEqual([]);
  });
});

describe('an earlier run', () => {
  it('that is deleted leaves the checkpoints on which a later run has advanced in a subgraph', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'breakpoint', { input: { log: [] } });
    await client.runs.wait(thread_id, 'breakpoint', { input: null });
    const before = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(deepest(before).next).toEqual(['two']);
    const [later, earlier] = await client.runs.list(thread_id);
    await client.runs.delete(thread_id, earlier?.run_id ?? '');
    const after = await client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(seen(after)).toEqual(seen(before));
    expect(await client.runs.list(thread_id)).toMatchObject([{ run_id: later?.run_id }]);
    expect(await client.runs.wait(thread_id, 'breakpoint', { input: null })).toEqual({
      log: ['start', 'start', 'one', 'two'],
    });
  });
});

describe('the question of a call', () => {
  it.each([
    ['workflow', { topic: 'x' }],
    ['calls', { log: [] }],
  ] as const)('is open once: %s', async (name, input) => {
    const engine = engineOf(name);
    await engine.invoke(input, at);
    const { tasks } = await engine.getState(at);
    const expected = tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value));
    expect(expected).toHaveLength(1);

    const thread_id = await newThread();
    await client.runs.wait(thread_id, name, { input });
    const open = async () =>
      Object.values((await client.threads.get(thread_id)).interrupts ?? {})
        .flat()
        .map(({ value }) => value);
    expect(await open()).toEqual(expected);
    // A run that ends before it has created a checkpoint reports the interrupts that it has loaded.
    await client.runs.wait(thread_id, name, { input: null });
    expect(await open()).toEqual(expected);
  });
});

describe('a state update', () => {
  it.each([
    ['ends a thread that waits', null, '__end__'],
    ['leaves a thread waiting for its next node', { log: ['edited'] }, 'ask'],
    ['ends a thread at its last node', { log: ['edited'] }, 'after'],
  ] as const)('%s', async (_, values, asNode) => {
    const engine = engineOf('question');
    await engine.invoke({ log: [] }, at);
    await engine.updateState(at, values, asNode);
    const expected = await engine.getState(at);

    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'question', { input: { log: [] } });
    expect((await client.threads.get(thread_id)).status).toBe('interrupted');
    await client.threads.updateState(thread_id, { values, asNode });
    const thread = await client.threads.get(thread_id);
    const state = await client.threads.getState(thread_id);
    expect(seen(state)).toEqual(seen(expected));
    expect(thread.status).toBe(expected.next.length > 0 ? 'interrupted' : 'idle');
    expect(thread.interrupts).toEqual({});
    const found = await client.threads.search({ ids: [thread_id], status: thread.status });
    expect(found).toHaveLength(1);
    // The deletion of the run before the update changes nothing.
    const [run] = await client.runs.list(thread_id);
    await client.runs.delete(thread_id, run?.run_id ?? '');
    expect((await client.threads.get(thread_id)).status).toBe(thread.status);
  });
});

describe('a thread that waits at a node which a deployment has removed', () => {
  const waiting = async (input: string): Promise<string> => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'changing', { input: { log: [input] } });
    return thread_id;
  };
  const cases = [
    ['root', 'outer', 'the node "ask"'],
    ['subgraph', 'inner', 'the node "ask" of the subgraph "helper"'],
    ['subgraph', 'called', 'the node "ask" of the subgraph "caller"'],
    ['edges', 'outer', 'the node "ask"'],
  ] as const;
  const bodies = [{ command: { resume: 'yes' } }, { input: null }];
  const all = [
    ...cases.flatMap((one) => bodies.map((body) => [...one, body] as const)),
    ...(['sync', 'exit'] as const).map(
      (durability) => [...cases[2], { command: { resume: 'yes' }, durability }] as const,
    ),
  ];

  it.each(all)('keeps its questions: %s', async (changed, input, names, body) => {
    const thread_id = await waiting(input);
    const before = await client.threads.get(thread_id);
    const { values, next } = await client.threads.getState(thread_id);
    const config = { configurable: { changed } };
    const run = await client.runs.create(thread_id, 'changing', { ...body, config });
    await client.runs.join(thread_id, run.run_id).catch(() => undefined);

    const { status, error } = (await client.runs.get(thread_id, run.run_id)) as unknown as {
      status: string;
      error: { message: string };
    };
    expect(status).toBe('error');
    expect(error.message).toContain(names);
    expect(error.message).toMatch(/checkpoint_id.*as_node/);
    const { status: left, interrupts } = await client.threads.get(thread_id);
    expect({ left, interrupts }).toEqual({ left: 'interrupted', interrupts: before.interrupts });
    expect(await client.threads.getState(thread_id)).toMatchObject({ values, next });

    // With the graph of before, the answer arrives.
    const ids = Object.values(interrupts).flatMap((list) => list.map(({ id }) => id ?? ''));
    const resume = Object.fromEntries(ids.map((id) => [id, 'yes']));
    const done = await client.runs.wait(thread_id, 'changing', { command: { resume } });
    expect((done as { log: string[] }).log).toContain('answer yes');
  });

  it('continues after an update as a node that exists, and from an earlier checkpoint', async () => {
    const config = { configurable: { changed: 'root' } };
    const thread_id = await waiting('outer');
    const history = await client.threads.getHistory(thread_id);
    const start = history.find(({ next }) => next.includes('__start__'));
    const { checkpoint } = start ?? {};
    const result = await client.runs.wait(thread_id, 'changing', {
      input: null,
      checkpoint,
      config,
    } as never);
    expect(questionsIn(result)).toEqual(['Outer?']);

    const other = await waiting('outer');
    const { assistant_id } = await client.assistants.create({ graphId: 'changing', config });
    await client.threads.update(other, { metadata: { assistant_id } });
    await client.threads.updateState(other, { values: { log: ['edited'] }, asNode: 'beside' });
    await client.runs.wait(other, 'changing', { input: null, config });
    expect(await client.threads.get(other)).toMatchObject({ status: 'idle', interrupts: {} });
  });

  it('takes a new input', async () => {
    const thread_id = await waiting('outer');
    const config = { configurable: { changed: 'root' } };
    const result = await client.runs.wait(thread_id, 'changing', { input: { log: ['again'] }, config });
    expect(questionsIn(result)).toEqual(['Outer?']);
  });
});
