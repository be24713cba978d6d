// A model and a custom event within a subgraph.
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const think = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  config.writer?.({ at: 'think' });
  const model = new FakeListChatModel({ responses: ['deep'] });
  return { messages: [await model.invoke(messages, config)] };
};

const sub = new StateGraph(MessagesAnnotation).addNode('think', think).addEdge(START, 'think').compile();

export const layers = new StateGraph(MessagesAnnotation)
  .addNode('sub', sub)
  .addNode('last', () => ({ messages: [new AIMessage({ id: 'last', content: 'over' })] }))
  .addEdge(START, 'sub')
  .addEdge('sub', 'last')
  .compile();
