// A graph for tests: it asks the value of its input, and stores the answer.
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ question: Annotation<unknown>, answer: Annotation<unknown> });

export const asking = new StateGraph(State)
  .addNode('ask', ({ question }) => ({ answer: interrupt(question) as unknown }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile();
