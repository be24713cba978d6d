// Asks a person, and writes down every answer that it was given.
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => [...log, ...more], default: () => [] }),
});

export const asker = new StateGraph(State)
  .addNode('ask', () => ({ log: [String(interrupt('who?'))] }))
  .addEdge(START, 'ask')
  .compile();
