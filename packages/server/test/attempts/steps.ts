// Counts to its goal, one superstep each; the process exits in the steps that the input lists, one per attempt.
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  goal: Annotation<number>,
  exits: Annotation<number[]>,
  done: Annotation<number>({ reducer: (before, after) => before + after, default: () => 0 }),
});

const count = ({ done, exits }: typeof State.State, { metadata }: LangGraphRunnableConfig) => {
  const attempt = Number(metadata?.['run_attempt']);
  if (exits[attempt - 1] === done) process.exit(1);
  return { done: 1 };
};

export const steps = new StateGraph(State)
  .addNode('count', count)
  .addEdge(START, 'count')
  .addConditionalEdges('count', ({ done, goal }) => (done < goal ? 'count' : END))
  .compile();
