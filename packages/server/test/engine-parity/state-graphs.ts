// Graphs whose states are more than the values of one checkpoint.
import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph';

/** A fan-out, then a node that needs no time. */
export const fanout = new StateGraph(
  Annotation.Root({
    results: Annotation<number[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
    i: Annotation<number>,
    sum: Annotation<number>,
  }),
)
  .addNode('plan', () => ({}))
  .addNode('each', ({ i }) => ({ results: [i] }))
  .addNode('reduce', ({ results }) => ({ sum: results.length }))
  .addEdge(START, 'plan')
  .addConditionalEdges('plan', () => Array.from({ length: 50 }, (_, i) => new Send('each', { i })), ['each'])
  .addEdge('each', 'reduce')
  .addEdge('reduce', END)
  .compile();
