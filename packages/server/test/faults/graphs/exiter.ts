// Exits its process.
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ code: Annotation<number> });

export const exiter = new StateGraph(State)
  .addNode('exit', ({ code }) => process.exit(code))
  .addEdge(START, 'exit')
  .compile();
