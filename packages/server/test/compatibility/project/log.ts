// Two steps that add to a list, and a custom event.
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

export const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] }),
});

export const log = new StateGraph(Log)
  .addNode('first', (_, { writer }: LangGraphRunnableConfig) => {
    writer?.({ at: 'first' });
    return { log: ['one'] };
  })
  .addNode('second', () => ({ log: ['two'] }))
  .addEdge(START, 'first')
  .addEdge('first', 'second')
  .compile();
