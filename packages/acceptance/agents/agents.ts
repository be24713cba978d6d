// Agents of LangChain, made as its guides show: the checkpointer and the store are theirs, and they have no `compile()`.
import { InMemoryStore, MemorySaver } from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';
import { RuleModel } from './model.ts';

const weather = tool(({ city }) => `snow in ${city}`, {
  name: 'weather',
  description: 'The weather of a city.',
  schema: z.object({ city: z.string() }),
});

const sendLetter = tool(({ to }) => `a letter to ${to} is sent`, {
  name: 'send_letter',
  description: 'Sends a letter.',
  schema: z.object({ to: z.string() }),
});

export const assistant = createAgent({
  model: new RuleModel(),
  tools: [weather, sendLetter],
  checkpointer: new MemorySaver(),
  store: new InMemoryStore(),
  middleware: [humanInTheLoopMiddleware({ interruptOn: { send_letter: true } })],
});
