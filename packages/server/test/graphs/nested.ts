import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

const inner = new StateGraph(State)
  .addNode('deep', () => ({ log: ['deep'] }))
  .addNode('ask', () => ({ log: [`asked ${interrupt<string, string>('deep question')}`] }))
  .addEdge(START, 'deep')
  .addEdge('deep', 'ask')
  .compile();

/** A graph whose node is a subgraph with an interrupt. */
export const nested = new StateGraph(State).addNode('inner', inner).addEdge(START, 'inner').compile();
