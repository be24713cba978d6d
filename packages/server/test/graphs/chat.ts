// Answers every message with an echo of it, token by token.
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const answer = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const text = `echo ${String(messages.at(-1)?.content)}`;
  config.writer?.({ answering: text });
  const model = new FakeListChatModel({ responses: [text] });
  const reply = await model.invoke(messages, config);
  return { messages: [new AIMessage({ content: reply.content, id: reply.id ?? crypto.randomUUID() })] };
};

export const builder = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge(START, 'answer');
export const chat = builder.compile();

export const factory = async (config: LangGraphRunnableConfig) => {
  if (config.configurable?.['hangs'] === true) await new Promise(() => undefined);
  await Promise.resolve();
  const suffix = String(config.configurable?.['suffix'] ?? '');
  return new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => ({
      messages: [new AIMessage(`made ${String(messages.at(-1)?.content)}${suffix}`)],
    }))
    .addEdge(START, 'answer');
};
