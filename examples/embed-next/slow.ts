import { setTimeout as sleep } from 'node:timers/promises';
import { Annotation, type LangGraphRunnableConfig, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  steps: Annotation<number>,
  done: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
});

/** Takes a tenth of a second for each step. */
export const graph = new StateGraph(State)
  .addNode('step', async ({ done }, { signal }: LangGraphRunnableConfig) => {
    await sleep(100, undefined, signal ? { signal } : {});
    return { done: done + 1 };
  })
  .addEdge('__start__', 'step')
  .addConditionalEdges('step', ({ steps, done }) => (done < steps ? 'step' : '__end__'))
  .compile();
