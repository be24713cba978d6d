import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import { Log } from './log.ts';

const inner = new StateGraph(Log)
  .addNode('deep', (_, { writer }: LangGraphRunnableConfig) => {
    writer?.({ at: 'deep' });
    return { log: ['deep'] };
  })
  .addNode('ask', () => ({ log: [`asked ${interrupt<string, string>('deep question')}`] }))
  .addEdge(START, 'deep')
  .addEdge('deep', 'ask')
  .compile();

/** A node is a subgraph with an interrupt. */
export const nested = new StateGraph(Log)
  .addNode('outer', () => ({ log: ['outer'] }))
  .addNode('inner', inner)
  .addEdge(START, 'outer')
  .addEdge('outer', 'inner')
  .compile();

const think = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const model = new FakeListChatModel({ responses: ['deep thought'] });
  return { messages: [await model.invoke(messages, config)] };
};

/** A graph that calls a model, for use as a subgraph. */
export const thinker = new StateGraph(MessagesAnnotation)
  .addNode('think', think)
  .addEdge(START, 'think')
  .compile();

/** A model within a subgraph. */
export const thinking = new StateGraph(MessagesAnnotation)
  .addNode('sub', thinker)
  .addEdge(START, 'sub')
  .compile();
