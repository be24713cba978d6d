// An agent that delegates a task to a subagent, which calls a tool: the messages and the tools are those of a deep agent.
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MessagesAnnotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { weather, weatherCall } from '../compatibility/project/weather.ts';

const agent = (ask: () => AIMessage, tools: ToolNode) =>
  new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }: { messages: BaseMessage[] }) => {
      const last = messages.at(-1);
      const isAnswered = last?.type === 'tool';
      return { messages: [isAnswered ? new AIMessage(`The tool said: ${last.text}`) : ask()] };
    })
    .addNode('tools', tools)
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) =>
      (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : '__end__',
    )
    .addEdge('tools', 'model')
    .compile();

const subagent = agent(weatherCall, new ToolNode([weather]));

const task = tool(
  async ({ description }: { description: string }, config: LangGraphRunnableConfig) => {
    const { messages } = await subagent.invoke(
      { messages: [{ role: 'user', content: description }] },
      config as object,
    );
    return messages.at(-1)?.text ?? '';
  },
  {
    name: 'task',
    description: 'Delegates a task',
    schema: z.object({ description: z.string(), subagent_type: z.string() }),
  },
);

const delegation = () => {
  const args = { description: 'How is the weather?', subagent_type: 'reporter' };
  return new AIMessage({ content: '', tool_calls: [{ id: 'call_task', name: 'task', args }] });
};

export const delegating = agent(delegation, new ToolNode([task]));
