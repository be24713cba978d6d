// A chat model without a network: the last message decides what it answers.
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';

type Call = Pick<NonNullable<AIMessage['tool_calls']>[0], 'name' | 'args'>;

const weather = { name: 'weather', args: { city: 'Oslo' } };

const taskOf = (subagent_type: string, description: string): Call => ({
  name: 'task',
  args: { description, subagent_type },
});

/** By a word of the question. */
const calls: Record<string, Call[]> = {
  weather: [weather],
  letter: [{ name: 'send_letter', args: { to: 'Ben' } }],
  note: [{ name: 'write_file', args: { file_path: '/note.md', content: 'a note' } }],
  change: [{ name: 'edit_file', args: { file_path: '/note.md', old_string: 'a', new_string: 'my' } }],
  delegate: [taskOf('general-purpose', 'How is the weather?')],
  clerk: [taskOf('clerk', 'Send a letter')],
  both: [taskOf('general-purpose', 'Write a note'), taskOf('clerk', 'Send a letter'), weather],
};

const answerTo = (message: BaseMessage): AIMessage => {
  if (message.type === 'tool') return new AIMessage(`The tool said: ${message.text}`);
  const called = Object.entries(calls).find(([word]) => message.text.includes(word))?.[1];
  if (!called) return new AIMessage(`You said: ${message.text}`);
  return new AIMessage({
    content: '',
    tool_calls: called.map((call, index) => ({
      type: 'tool_call',
      id: index === 0 ? `call_${call.name}` : `call_${call.name}_${index}`,
      ...call,
    })),
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
