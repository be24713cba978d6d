// Branches on the configuration: state updates show the configuration that they ran with.
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({ note: Annotation<string>() });

export const branching = new StateGraph(State)
  .addNode('node', () => ({}))
  .addNode('configured', () => ({}))
  .addEdge(START, 'node')
  .addConditionalEdges('node', (_, { configurable }: LangGraphRunnableConfig) =>
    configurable?.['canary'] === undefined ? END : 'configured',
  )
  .compile();
