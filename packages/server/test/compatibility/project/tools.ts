// A tool call, its result, and an answer that no model has streamed.
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { weather, weatherCall } from './weather.ts';

const ask = () => ({ messages: [weatherCall()] });

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
