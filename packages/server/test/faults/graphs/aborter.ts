// Crashes its process in every attempt.
import { appendFileSync } from 'node:fs';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ file: Annotation<string | undefined>, out: Annotation<string> });

export const aborter = new StateGraph(State)
  .addNode('abort', ({ file }): { out: string } => {
    if (file) appendFileSync(file, 'abort\n');
    process.abort();
  })
  .addEdge(START, 'abort')
  .compile();
