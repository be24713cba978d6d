// Agents as the guides of LangChain make them: a model that calls tools, middleware, and tools that wait for an approval.
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  humanInTheLoopMiddleware,
  tool,
} from 'langchain';
import * as z from 'zod';
import { mayBeKilled } from './kill-switch.ts';

const toolCall = (name: string, args: Record<string, unknown>, id = name) => ({
  type: 'tool_call' as const,
  id: `call_${id}`,
  name,
  args,
});

const weatherIn = (city: string) => toolCall('weather', { city }, `weather_${city}`);

/** By a word of the newest message. */
const calls = {
  weather: [weatherIn('Oslo')],
  both: [weatherIn('Oslo'), weatherIn('Rome')],
  broken: [weatherIn('nowhere')],
  letter: [toolCall('send_letter', { to: 'Ben' })],
  mixed: [weatherIn('Rome'), toolCall('send_letter', { to: 'Ada' })],
};

const answerTo = (message: BaseMessage | undefined, count: number): AIMessage => {
  const text = message?.text ?? '';
  const called = message?.type === 'human' && Object.entries(calls).find(([word]) => text.includes(word));
  return called
    ? new AIMessage({ content: '', tool_calls: called[1] })
    : new AIMessage(`${count} messages, the last is ${text}`);
};

/** Answers by rules. */
class RuleModel extends BaseChatModel {
  override _llmType(): string {
    return 'rules';
  }

  override bindTools(): this {
    return this;
  }

  override _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = answerTo(messages.at(-1), messages.length);
    return Promise.resolve({ generations: [{ message, text: message.text }] });
  }
}

const weather = tool(
  ({ city }: { city: string }, config: RunnableConfig) => {
    mayBeKilled(config);
    if (city === 'nowhere') throw new Error('There is no such city');
    return `snow in ${city}`;
  },
  { name: 'weather', description: 'The weather of a city.', schema: z.object({ city: z.string() }) },
);

const sendLetter = tool(({ to }: { to: string }) => `a letter to ${to} is sent`, {
  name: 'send_letter',
  description: 'Sends a letter.',
  schema: z.object({ to: z.string() }),
});

const counting = createMiddleware({
  name: 'counting',
  stateSchema: z.object({ calls: z.number().default(0) }),
  beforeModel: (state) => ({ calls: state.calls + 1 }),
});

const model = new RuleModel({});

export const agent = createAgent({ model, tools: [weather, sendLetter], middleware: [counting] });

// The types of this middleware are not made for exactOptionalPropertyTypes.
const approving = humanInTheLoopMiddleware({ interruptOn: { send_letter: true } } as never);

export const approvals = createAgent({
  model,
  tools: [weather, sendLetter],
  middleware: [approving as unknown as AgentMiddleware],
});
