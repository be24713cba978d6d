// Whether the installed engine takes `false` as an answer: older ones reject it as an empty command, here as well as alone.
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';

const asking = new StateGraph(Annotation.Root({ answer: Annotation<unknown> }))
  .addNode('ask', () => ({ answer: interrupt('?') as unknown }))
  .addEdge(START, 'ask')
  .compile({ checkpointer: new MemorySaver() });

export const takesFalse = async (): Promise<boolean> => {
  const config = { configurable: { thread_id: 'asking' } };
  await asking.invoke({}, config);
  try {
    await asking.invoke(new Command({ resume: false }), config);
    return true;
  } catch (error) {
    if ((error as Error).name === 'EmptyInputError') return false;
    throw error;
  }
};
