// A chat model without a network: the last message decides what it answers.
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';

type Call = Pick<NonNullable<AIMessage['tool_calls']>[0], 'name' | 'args'>;

/** By a word of the question. */
const calls: Record<string, Call> = {
  weather: { name: 'weather', args: { city: 'Oslo' } },
  letter: { name: 'send_letter', args: { to: 'Ben' } },
  note: { name: 'write_file', args: { file_path: '/note.md', content: 'a note' } },
  delegate: {
    name: 'task',
    args: { description: 'How is the weather?', subagent_type: 'general-purpose' },
  },
};

const answerTo = (message: BaseMessage): AIMessage => {
  if (message.type === 'tool') return new AIMessage(`The tool said: ${message.text}`);
  const call = Object.entries(calls).find(([word]) => message.text.includes(word))?.[1];
  if (!call) return new AIMessage(`You said: ${message.text}`);
  return new AIMessage({
    content: '',
    tool_calls: [{ type: 'tool_call', id: `call_${call.name}`, ...call }],
  });
};

export class RuleModel extends BaseChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return 'rules';
  }

  override bindTools(): this {
    return this;
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = answerTo(messages.at(-1)!);
    return Promise.resolve({ generations: [{ message, text: message.text }] });
  }
}
