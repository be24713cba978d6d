// Allocates memory until there is none.
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ out: Annotation<number> });

export const hog = new StateGraph(State)
  .addNode('eat', (): { out: number } => {
    const eaten: unknown[] = [];
    for (;;) eaten.push({ meal: eaten.length, leftovers: [eaten.length] });
  })
  .addEdge(START, 'eat')
  .compile();
