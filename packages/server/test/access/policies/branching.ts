// Goes where the configuration says: updates of a state show what they were configured with.
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
