// A graph of three nodes that take two seconds each, so that a stop finds it in flight.
import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  steps: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

const step = (name: string) => async () => {
  await sleep(2_000);
  return { steps: [`${name} in ${process.env['SVC_TEST_NAME'] ?? 'one process'}`] };
};

export const graph = new StateGraph(State)
  .addNode('first', step('first'))
  .addNode('second', step('second'))
  .addNode('third', step('third'))
  .addEdge(START, 'first')
  .addEdge('first', 'second')
  .addEdge('second', 'third')
  .compile();
