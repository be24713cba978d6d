// An agent that echoes a message, and stops before the last characters until the file exists that the message names.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AIMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { MessagesAnnotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';

class GatedModel extends FakeListChatModel {
  override async *_streamResponseChunks(
    ...[messages, options, manager]: Parameters<FakeListChatModel['_streamResponseChunks']>
  ) {
    const gate = String(messages.at(-1)?.content);
    let left = this.responses[0]!.length;
    for await (const chunk of super._streamResponseChunks(messages, options, manager)) {
      if (left-- === 4) while (!existsSync(gate)) await sleep(10);
      yield chunk;
    }
  }
}

const answer = async ({ messages }: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
  const model = new GatedModel({ responses: [`echo ${String(messages.at(-1)?.content)}`] });
  const { content, id } = await model.invoke(messages, config);
  return { messages: [new AIMessage({ content, id: id ?? crypto.randomUUID() })] };
};

export const gated = new StateGraph(MessagesAnnotation)
  .addNode('answer', answer)
  .addEdge(START, 'answer')
  .compile();
