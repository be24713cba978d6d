import { Annotation, START, StateGraph } from '@langchain/langgraph';

/** Its first node writes nothing. */
export const quiet = new StateGraph(Annotation.Root({ out: Annotation<number> }))
  .addNode('wait', () => ({}))
  .addNode('speak', ({ out }) => ({ out: out + 1 }))
  .addEdge(START, 'wait')
  .addEdge('wait', 'speak')
  .compile();
