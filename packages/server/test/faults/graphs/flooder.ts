// Emits many events as fast as it can.
import { setImmediate as breathe } from 'node:timers/promises';
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const State = Annotation.Root({
  events: Annotation<number>,
  /** The size of each event. */
  bytes: Annotation<number>,
  /** Milliseconds before the first event. */
  ms: Annotation<number>,
  out: Annotation<string>,
});

export const flooder = new StateGraph(State)
  .addNode('flood', async ({ events, bytes, ms }, config: LangGraphRunnableConfig) => {
    await new Promise((resolve) => setTimeout(resolve, ms ?? 0));
    const text = 'x'.repeat(bytes);
    for (let index = 0; index < events; index++) {
      config.writer?.({ index, text });
      if (index % 100 === 99) await breathe();
    }
    return { out: 'flooded' };
  })
  .addEdge(START, 'flood')
  .compile();
