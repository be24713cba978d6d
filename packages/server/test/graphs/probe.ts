// A graph that does what its input says: throws, waits, reads its config, returns what JSON cannot hold.
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  do: Annotation<string>,
  ms: Annotation<number>,
  out: Annotation<unknown>,
});

const circle = (): unknown => {
  const a: Record<string, unknown> = {};
  a['self'] = a;
  return a;
};

const deeds: Record<string, (state: typeof State.State, config: LangGraphRunnableConfig) => unknown> = {
  throw: () => {
    throw new TypeError('the graph said no');
  },
  bigint: () => 10n,
  circle,
  function: () => () => 1,
  undefined: () => undefined,
  date: () => new Date(0),
  nul: () => 'a\u0000b\ud800',
  sleep: ({ ms }) => new Promise((resolve) => setTimeout(() => resolve('slept'), ms)),
  config: (_, { configurable, metadata, context }: LangGraphRunnableConfig & { context?: unknown }) => ({
    configurable: Object.fromEntries(
      Object.entries(configurable ?? {}).filter(([key]) => !key.startsWith('__')),
    ),
    metadata,
    context,
  }),
  remember: async (_, { store }) => {
    await store?.put(['notes'], 'one', { text: 'from the graph' });
    return (await store?.get(['notes'], 'one'))?.value;
  },
};

export const probe = new StateGraph(State)
  .addNode('act', async (state, config) => ({ out: await deeds[state.do]?.(state, config) }))
  .addEdge(START, 'act')
  .compile();
