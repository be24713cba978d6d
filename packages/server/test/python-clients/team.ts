// Custom events of each form, a tool call, a model inside a subgraph, and two models that stream at the same time.
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { thinker } from '../compatibility/project/nested.ts';
import { weather, weatherCall } from '../compatibility/project/weather.ts';

const ask = (_: unknown, { writer }: LangGraphRunnableConfig) => {
  writer?.('a text');
  writer?.({ at: 1 });
  writer?.({ name: 'progress', done: 1 });
  writer?.({ name: 'progress', payload: { done: 2 } });
  return { messages: [weatherCall()] };
};

const reply = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const answer = (text: string) =>
    new FakeListChatModel({ responses: [text], sleep: 5 }).invoke(messages, config);
  return { messages: await Promise.all([answer('it snows'), answer('in Oslo')]) };
};

export const team = new StateGraph(MessagesAnnotation)
  .addNode('ask', ask)
  .addNode('tools', new ToolNode([weather]))
  .addNode('sub', thinker)
  .addNode('reply', reply)
  .addEdge(START, 'ask')
  .addEdge('ask', 'tools')
  .addEdge('tools', 'sub')
  .addEdge('sub', 'reply')
  .compile();
