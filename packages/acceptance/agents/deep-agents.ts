// Deep agents. The team has subagents; people approve its letters, and those of one of its subagents.
import type { RunnableConfig } from '@langchain/core/runnables';
import { createDeepAgent } from 'deepagents';
import { tool } from 'langchain';
import { z } from 'zod';
import { mayBeKilled } from '../../server/test/engine-parity/sequences/kill-switch.ts';
import { RuleModel } from './model.ts';

const model = new RuleModel();

const weather = tool(
  ({ city }, config: RunnableConfig) => {
    mayBeKilled(config);
    return `snow in ${city}`;
  },
  { name: 'weather', description: 'The weather of a city.', schema: z.object({ city: z.string() }) },
);

const sendLetter = tool(
  ({ to }, config: RunnableConfig) => {
    mayBeKilled(config);
    return `a letter to ${to} is sent`;
  },
  { name: 'send_letter', description: 'Sends a letter.', schema: z.object({ to: z.string() }) },
);

export const researcher = createDeepAgent({ model, tools: [weather] });

const interruptOn = { send_letter: true };

export const team = createDeepAgent({
  model,
  tools: [weather, sendLetter],
  interruptOn,
  subagents: [
    {
      name: 'clerk',
      description: 'Writes letters.',
      systemPrompt: 'You write letters.',
      tools: [sendLetter],
      interruptOn,
    },
  ],
});

export { Send } from '@langchain/langgraph';
