// A chat model without a network: it answers the last message by fixed rules, word by word.
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { FakeStreamingChatModel } from '@langchain/core/utils/testing';
import { passGate } from './gate.ts';

/** The text of a message, from a string or from content blocks. */
export const textOf = ({ text }: BaseMessage): string => text;

/** `count <gate>` makes the model stop at the gate in the middle of its answer. */
const gateOf = (text: string): string | undefined => /^count (\S+)$/.exec(text)?.[1];

const answerTo = (message: BaseMessage): string => {
  const text = textOf(message);
  if (message.type === 'tool') return `It is ${text}.`;
  return gateOf(text) === undefined ? `You said: ${text}` : 'one two three four five six';
};

/** As providers stream it: first the name of the tool, then its arguments. */
const callOfWeather = (): AIMessageChunk[] =>
  [{ id: 'call_1', name: 'weather', args: '' }, { args: '{"city":"Oslo"}' }].map(
    (chunk) =>
      new AIMessageChunk({
        content: '',
        tool_call_chunks: [{ type: 'tool_call_chunk', index: 0, ...chunk }],
      }),
  );

export class RuleModel extends FakeStreamingChatModel {
  override async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options, manager))
      whole = whole?.concat(chunk) ?? chunk;
    return { generations: whole ? [whole] : [] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for await (const message of this.#chunks(messages.at(-1)!, options.signal)) {
      const chunk = new ChatGenerationChunk({ message, text: message.text });
      yield chunk;
      await manager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  async *#chunks(last: BaseMessage, signal?: AbortSignal): AsyncGenerator<AIMessageChunk> {
    if (last.type === 'human' && textOf(last).includes('weather')) {
      yield* callOfWeather();
      return;
    }
    const gate = last.type === 'human' ? gateOf(textOf(last)) : undefined;
    for (const content of answerTo(last).split(/(?= )/)) {
      if (gate !== undefined && content === ' four') await passGate(gate, signal);
      yield new AIMessageChunk({ content });
    }
  }
}
