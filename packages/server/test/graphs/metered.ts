// Calls a model that streams its answer word by word and reports token usage.
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { BaseMessage } from '@langchain/core/messages';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const usage_metadata = { input_tokens: 11, output_tokens: 3, total_tokens: 14 };

class Metered extends BaseChatModel {
  _llmType(): string {
    return 'metered';
  }

  _generate(): Promise<ChatResult> {
    const message = Object.assign(new AIMessage('it rains today'), { usage_metadata });
    return Promise.resolve({ generations: [{ text: 'it rains today', message }] });
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const text of ['it ', 'rains ', 'today']) {
      const message = new AIMessageChunk(text);
      yield new ChatGenerationChunk({ text, message });
      await manager?.handleLLMNewToken(text);
    }
    const message = Object.assign(new AIMessageChunk(''), { usage_metadata });
    yield new ChatGenerationChunk({ text: '', message });
  }
}

const model = new Metered({});

export const metered = new StateGraph(MessagesAnnotation)
  .addNode('answer', async (_, config) => ({ messages: [await model.invoke('what now?', config)] }))
  .addEdge(START, 'answer')
  .compile();
