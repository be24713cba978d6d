// A tool call, a model inside a subgraph, a custom event, and an interrupt at the end.
import { AIMessage } from '@langchain/core/messages';
import {
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { thinker } from '../compatibility/project/nested.ts';
import { weather, weatherCall } from '../compatibility/project/weather.ts';

const ask = (_: unknown, { writer }: LangGraphRunnableConfig) => {
  writer?.({ name: 'progress', payload: { done: 1 } });
  return { messages: [weatherCall()] };
};

export const toolbox = new StateGraph(MessagesAnnotation)
  .addNode('ask', ask)
  .addNode('tools', new ToolNode([weather]))
  .addNode('sub', thinker)
  .addNode('confirm', () => {
    const { ok } = interrupt<unknown, { ok: boolean }>({ question: 'send?' });
    return { messages: [new AIMessage({ id: 'confirmed', content: ok ? 'sent' : 'kept' })] };
  })
  .addEdge(START, 'ask')
  .addEdge('ask', 'tools')
  .addEdge('tools', 'sub')
  .addEdge('sub', 'confirm')
  .compile();
