import { Annotation, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ name: Annotation<string>, greeting: Annotation<string> });

export const graph = new StateGraph(State)
  .addNode('greet', ({ name }) => ({ greeting: `Hello, ${name}!` }))
  .addEdge('__start__', 'greet')
  .compile();
