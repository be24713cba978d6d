// Interrupts for an answer, and records every answer that it gets.
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

export const interrupter = new StateGraph(State)
  .addNode('ask', () => ({ log: [String(interrupt('which?'))] }))
  .addEdge(START, 'ask')
  .compile();
