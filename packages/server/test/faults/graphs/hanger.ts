// Never returns, and ignores its signal.
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ out: Annotation<string> });

export const hanger = new StateGraph(State)
  .addNode('hang', () => {
    setInterval(() => undefined, 1_000);
    return new Promise<{ out: string }>(() => undefined);
  })
  .addEdge(START, 'hang')
  .compile();
