// A graph with one node. The input names the action that the node executes.
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({ do: Annotation<string>, out: Annotation<unknown> });

type Act = (config: LangGraphRunnableConfig) => unknown;

const configurableOf = ({ configurable }: LangGraphRunnableConfig) =>
  Object.fromEntries(Object.entries(configurable ?? {}).filter(([key]) => !key.startsWith('__pregel')));

const actions: Record<string, Act> = {
  throw: () => {
    throw new TypeError('failed on purpose');
  },
  /** Waits until the run is stopped. */
  wait: ({ signal, writer }) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      writer?.('waiting');
    }),
  configurable: configurableOf,
  metadata: ({ metadata }) => metadata,
  context: ({ context }) => context,
  remember: async ({ store }) => {
    await store?.put(['notes'], 'one', { text: 'from the graph' });
    return (await store?.get(['notes'], 'one'))?.value;
  },
};

export const acts = new StateGraph(State)
  .addNode('act', async (state, config: LangGraphRunnableConfig) => ({
    out: await actions[state.do]?.(config),
  }))
  .addEdge(START, 'act')
  .compile();
