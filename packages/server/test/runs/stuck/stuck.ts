// A factory that never returns a graph when its config says so: it blocks the event loop, or waits.
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const graph = new StateGraph(Annotation.Root({ out: Annotation<string> }))
  .addNode('act', () => ({ out: 'done' }))
  .addEdge(START, 'act')
  .compile();

export const stuck = async ({ configurable }: LangGraphRunnableConfig) => {
  if (configurable?.['how'] === 'block') for (;;);
  if (configurable?.['how'] === 'wait') await new Promise(() => undefined);
  return graph;
};
