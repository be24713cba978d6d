// A loop whose node asks a subgraph with a memory of its own about one topic after the other. The place named by `hold` waits at a barrier.
import { Annotation, END, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { passBarrier } from '../rollback/survey.ts';

const list = () =>
  Annotation<string[]>({ reducer: (before, after) => before.concat(after), default: () => [] });

const Heard = Annotation.Root({ heard: list(), topic: Annotation<string>, hold: Annotation<string> });

const recall = new StateGraph(Heard)
  .addNode('listen', async ({ topic, hold }, config: LangGraphRunnableConfig) => {
    if (hold === `in ${topic}`) await passBarrier(config);
    return { heard: [topic] };
  })
  .addEdge(START, 'listen')
  .addEdge('listen', END)
  .compile({ checkpointer: true });

const State = Annotation.Root({
  topics: Annotation<string[]>,
  at: Annotation<number>,
  hold: Annotation<string>,
  log: list(),
});

export const memory = new StateGraph(State)
  .addNode('ask', async ({ topics, at, hold }, config: LangGraphRunnableConfig) => {
    const topic = topics[at] ?? '';
    if (hold === `before ${topic}`) await passBarrier(config);
    const { heard } = await recall.invoke({ topic, hold }, config);
    return { at: at + 1, log: [heard.join('+')] };
  })
  .addEdge(START, 'ask')
  .addConditionalEdges('ask', ({ topics, at }) => (at < topics.length ? 'ask' : END))
  .compile();
