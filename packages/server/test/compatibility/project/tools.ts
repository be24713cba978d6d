// A tool call, its result, and an answer that no model has streamed.
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';

const weather = tool(({ city }: { city: string }) => `snow in ${city}`, {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});

const ask = () => {
  const tool_calls = [{ id: 'call_1', name: 'weather', args: { city: 'Oslo' } }];
  return { messages: [new AIMessage({ id: 'asking', content: '', tool_calls })] };
};

const answer = ({ messages }: { messages: BaseMessage[] }) => ({
  messages: [new AIMessage({ id: 'answer', name: 'reporter', content: String(messages.at(-1)?.content) })],
});

export const tools = new StateGraph(MessagesAnnotation)
  .addNode('ask', ask)
  .addNode('tools', new ToolNode([weather]))
  .addNode('answer', answer)
  .addEdge(START, 'ask')
  .addEdge('ask', 'tools')
  .addEdge('tools', 'answer')
  .compile();
