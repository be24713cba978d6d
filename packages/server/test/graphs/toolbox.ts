// A tool call, a model inside a subgraph, a custom event, and an interrupt at the end.
import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';

const weather = tool(({ city }) => `snow in ${city}`, {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});

const ask = (_: unknown, { writer }: LangGraphRunnableConfig) => {
  writer?.({ name: 'progress', payload: { done: 1 } });
  const tool_calls = [{ id: 'call_1', name: 'weather', args: { city: 'Oslo' } }];
  return { messages: [new AIMessage({ id: 'asking', content: '', tool_calls })] };
};

const think = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const model = new FakeListChatModel({ responses: ['deep thought'] });
  return { messages: [await model.invoke(messages, config)] };
};

const sub = new StateGraph(MessagesAnnotation).addNode('think', think).addEdge(START, 'think').compile();

export const toolbox = new StateGraph(MessagesAnnotation)
  .addNode('ask', ask)
  .addNode('tools', new ToolNode([weather]))
  .addNode('sub', sub)
  .addNode('confirm', () => {
    const { ok } = interrupt<unknown, { ok: boolean }>({ question: 'send?' });
    return { messages: [new AIMessage({ id: 'confirmed', content: ok ? 'sent' : 'kept' })] };
  })
  .addEdge(START, 'ask')
  .addEdge('ask', 'tools')
  .addEdge('tools', 'sub')
  .addEdge('sub', 'confirm')
  .compile();
