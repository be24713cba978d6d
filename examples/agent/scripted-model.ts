// A model that works offline. It looks for a city or numbers in the question, calls the matching tool, and answers with a sentence
// that contains the tool's result. It streams its answer word by word.
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage, type ToolMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';

const cities = ['Lisbon', 'Oslo', 'Zurich'];

const reply = (messages: BaseMessage[]): AIMessage => {
  const last = messages.at(-1);
  if (last?.getType() === 'tool') return new AIMessage(sentence(last as ToolMessage));
  const question = String(last?.content ?? '');
  const city = cities.find((name) => question.toLowerCase().includes(name.toLowerCase()));
  if (city) return call('weather', { city });
  const numbers = question.match(/-?\d+(\.\d+)?/g)?.map(Number) ?? [];
  if (numbers.length > 1) return call('add', { numbers });
  return new AIMessage(
    `You said: ${question}. Ask me for the weather in ${cities.join(', ')}, or to add numbers.`,
  );
};

const call = (name: string, args: Record<string, unknown>): AIMessage =>
  new AIMessage({
    content: '',
    tool_calls: [{ name, args, id: `call_${crypto.randomUUID()}`, type: 'tool_call' }],
  });

const sentence = (message: ToolMessage): string =>
  message.name === 'weather'
    ? `The weather: ${String(message.content)}.`
    : `The sum is ${String(message.content)}.`;

export class ScriptedModel extends BaseChatModel {
  constructor() {
    super({});
  }

  _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = reply(messages);
    return Promise.resolve({ generations: [{ message, text: String(message.content) }] });
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { content, tool_calls = [] } = reply(messages);
    const toolCalls = tool_calls.map(({ name, args, id }, index) => ({
      name,
      args: JSON.stringify(args),
      index,
      type: 'tool_call_chunk' as const,
      ...(id === undefined ? {} : { id }),
    }));
    const words = toolCalls.length > 0 ? [''] : String(content).split(/(?<= )/);
    for (const text of words) {
      const message = new AIMessageChunk({ content: text, tool_call_chunks: toolCalls });
      yield new ChatGenerationChunk({ message, text });
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, {
        chunk: new ChatGenerationChunk({ message, text }),
      });
    }
  }
}
