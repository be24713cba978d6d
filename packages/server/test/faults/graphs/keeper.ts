// Takes as many steps as its input specifies, and writes to the store in each of them.
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  marker: Annotation<string>,
  steps: Annotation<number>,
  /** Milliseconds that a step takes. */
  ms: Annotation<number>,
  taken: Annotation<number>,
});

const step = async ({ marker, taken, ms }: typeof State.State, config: LangGraphRunnableConfig) => {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await config.store?.put(['keeper'], marker, { taken });
  return { taken: taken + 1 };
};

export const keeper = new StateGraph(State)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ taken, steps }) => (taken < steps ? 'step' : END))
  .compile();
