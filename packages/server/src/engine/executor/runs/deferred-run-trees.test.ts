import { AsyncLocalStorage } from 'node:async_hooks';
import { getContextVariable, setContextVariable } from '@langchain/core/context';
import { RunnableLambda, type RunnableConfig } from '@langchain/core/runnables';
import { AsyncLocalStorageProviderSingleton as provider } from '@langchain/core/singletons';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deferRunTrees } from './deferred-run-trees.ts';

interface RunTree {
  id: string;
  trace_id: string;
  dotted_order: string;
  tracingEnabled: boolean;
  child_runs: object[];
  createChild(config: object): RunTree;
}

const original = provider.runWithConfig.bind(provider);

beforeAll(() => {
  provider.initializeGlobalInstance(new AsyncLocalStorage());
  deferRunTrees(provider);
});

afterAll(() => {
  provider.runWithConfig = original;
});

const current = (): RunTree => provider.getInstance().getStore() as RunTree;
const config = { configurable: { thread_id: 't' } };

it('gives the config of a step to the runnables that the step calls', async () => {
  const inner = RunnableLambda.from(
    (_: string, { configurable }: RunnableConfig) => configurable?.['thread_id'],
  );
  const outer = RunnableLambda.from((value: string) => inner.invoke(value));
  expect(await outer.invoke('x', config)).toBe('t');
});

it('creates no RunTree for a step that does not trace', () => {
  provider.runWithConfig(config, () => expect(Object.keys(current())).toEqual(['tracingEnabled', 'extra']));
});

it('becomes the RunTree that the engine would have created', () => {
  const keys = original(config, () => Object.keys(current()).toSorted()) as string[];
  provider.runWithConfig(config, () => {
    const { id, trace_id, dotted_order } = current();
    expect(trace_id).toBe(id);
    expect(dotted_order).toContain(id);
    expect(current().id).toBe(id);
    expect(current().tracingEnabled).toBe(false);
    expect(Object.keys(current()).toSorted()).toEqual(keys);
    expect(provider.getRunnableConfig()).toBe(config);
  });
});

it('gives each step a RunTree of its own, with children of its own', () => {
  const [one, other] = [1, 2].map(() => provider.runWithConfig(config, () => current()));
  const child = one?.createChild({ name: 'child' });
  expect(one?.child_runs).toEqual([child]);
  expect(other?.child_runs).toEqual([]);
  expect(other?.id).not.toBe(one?.id);
  expect(child?.tracingEnabled).toBe(false);
});

it('is an instance of the class of RunTrees before it has become one', () => {
  const RunTreeClass = original(config, () => current().constructor) as new () => object;
  provider.runWithConfig(config, () => expect(current()).toBeInstanceOf(RunTreeClass));
});

it('passes context variables and the config on to later steps', async () => {
  const read = RunnableLambda.from((_: string, { configurable }: RunnableConfig) => [
    getContextVariable('color') as string,
    configurable?.['thread_id'] as string,
  ]);
  const step = RunnableLambda.from(async (value: string) => {
    setContextVariable('color', 'red');
    return [await read.invoke(value), await RunnableLambda.from(() => read.invoke(value)).invoke(value)];
  });
  expect(await step.invoke('x', config)).toEqual([
    ['red', 't'],
    ['red', 't'],
  ]);
});
