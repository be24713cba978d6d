// Blocks the event loop.
import { appendFileSync } from 'node:fs';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  ms: Annotation<number>,
  file: Annotation<string | undefined>,
  out: Annotation<string>,
});

export const spinner = new StateGraph(State)
  .addNode('spin', ({ ms, file }) => {
    if (file) appendFileSync(file, 'spin\n');
    const end = performance.now() + ms;
    while (performance.now() < end);
    return { out: 'spun' };
  })
  .addEdge(START, 'spin')
  .compile();
