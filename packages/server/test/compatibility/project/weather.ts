import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';

export const weather = tool(({ city }: { city: string }) => `snow in ${city}`, {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});

/** The message of a model that calls the tool. */
export const weatherCall = () => {
  const tool_calls = [{ id: 'call_1', name: 'weather', args: { city: 'Oslo' } }];
  return new AIMessage({ id: 'asking', content: '', tool_calls });
};
