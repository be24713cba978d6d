// Runs after the clock was set back. Their threads have checkpoints of the future, and later attempts must continue the new ones.
import { randomUUID } from 'node:crypto';
import { Annotation, Command, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../database.ts';
import { ThreadSavers } from './thread-savers.ts';

let database: TestDatabase;
let savers: ThreadSavers;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
afterEach(() => {
  vi.useRealTimers();
});

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => [...before, ...after], default: () => [] }),
});
type State = typeof Log.State;

const hour = 3_600_000;

/** A thread with a checkpoint of an hour in the future. */
const futureThread = async (): Promise<{ configurable: { thread_id: string } }> => {
  const config = { configurable: { thread_id: randomUUID() } };
  const graph = new StateGraph(Log)
    .addNode('before', () => ({ log: ['before'] }))
    .addEdge(START, 'before')
    .compile({ checkpointer: savers });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hour });
  await graph.invoke({ log: [] }, config);
  vi.useRealTimers();
  return config;
};

/** Another attempt, or another run: nothing is known but what is stored. */
const startOver = async (): Promise<void> => {
  await savers.flush();
  savers.forget();
};

/** `sync`: writes of a task may arrive before its checkpoint, which waits until its parent is stored. */
describe.each([false, true])('after the clock was set back (sync: %s)', (sync) => {
  beforeEach(() => {
    savers = new ThreadSavers(database, { sync });
  });

  it('a task that has finished is not executed again', async () => {
    const config = await futureThread();
    const executed: string[] = [];
    const graph = new StateGraph(Log)
      .addNode('left', () => {
        executed.push('left');
        return { log: ['left'] };
      })
      .addNode('right', async () => {
        executed.push('right');
        await vi.waitFor(() => expect(executed).toContain('left'));
        if (executed.filter((name) => name === 'right').length === 1) throw new Error('the first time');
        return { log: ['right'] };
      })
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile({ checkpointer: savers });
    await expect(graph.invoke({ log: ['in'] }, config)).rejects.toThrow('the first time');
    await startOver();
    expect(await graph.invoke(null, config)).toEqual({ log: ['before', 'in', 'left', 'right'] });
    expect(executed.toSorted()).toEqual(['left', 'right', 'right']);
  });

  it('interrupts are answered by their ids', async () => {
    const config = await futureThread();
    const ask = (name: string) => () => ({ log: [`${name}: ${interrupt<string, string>(name)}`] });
    const graph = new StateGraph(Log)
      .addNode('left', ask('left'))
      .addNode('right', ask('right'))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .compile({ checkpointer: savers });
    await graph.invoke({ log: [] }, config);
    await startOver();
    const { tasks } = await graph.getState(config);
    const answers = tasks.flatMap(({ interrupts }) =>
      interrupts.map(({ id = '', value }) => [id, `${value}!`]),
    );
    await startOver();
    const state = await graph.invoke(new Command({ resume: Object.fromEntries(answers) as object }), config);
    expect(state).toEqual({ log: ['before', 'left: left!', 'right: right!'] });
  });

  it('a subgraph continues at its interrupt', async () => {
    const config = await futureThread();
    const executed: string[] = [];
    const note = (name: string, act: () => unknown) => (): Partial<State> => {
      executed.push(name);
      return { log: [`${name} ${String(act())}`] };
    };
    const inner = new StateGraph(Log)
      .addNode(
        'first',
        note('first', () => 'done'),
      )
      .addNode(
        'ask',
        note('ask', () => interrupt('go on?')),
      )
      .addEdge(START, 'first')
      .addEdge('first', 'ask')
      .compile();
    const graph = new StateGraph(Log)
      .addNode('inner', inner)
      .addEdge(START, 'inner')
      .compile({ checkpointer: savers });
    await graph.invoke({ log: [] }, config);
    await startOver();
    await graph.invoke(new Command({ resume: 'yes' }), config);
    expect(executed).toEqual(['first', 'ask', 'ask']);
  });

  it('a checkpoint has the same tasks for every reader', async () => {
    const config = await futureThread();
    const graph = new StateGraph(Log)
      .addNode('only', () => ({ log: ['only'] }))
      .addEdge(START, 'only')
      .compile({ checkpointer: savers });
    await graph.invoke({ log: [] }, config);
    await startOver();
    const results: unknown[] = [];
    for await (const { tasks } of graph.getStateHistory(config))
      results.push(...tasks.filter(({ name }) => name === 'only').map(({ result }) => result));
    expect(results).toEqual([{ log: ['only'] }]);
  });
});
