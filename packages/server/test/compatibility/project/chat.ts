// Answers every message with an echo of it, token by token.
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

const answer = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const text = `echo ${String(messages.at(-1)?.content)}`;
  const model = new FakeListChatModel({ responses: [text] });
  return { messages: [await model.invoke(messages, config)] };
};

const builder = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge(START, 'answer');

export const chat = builder.compile();

/** A factory: what it makes depends on the config. */
export const made = (config: LangGraphRunnableConfig) =>
  new StateGraph(MessagesAnnotation)
    .addNode('answer', ({ messages }) => ({
      messages: [
        new AIMessage({
          id: `answer-${messages.length}`,
          content: `made ${String(config.configurable?.['suffix'] ?? '')}`,
        }),
      ],
    }))
    .addEdge(START, 'answer');
