import { tool } from '@langchain/core/tools';
import { z } from 'zod';

const forecasts: Record<string, string> = {
  lisbon: 'sunny, 24 °C',
  oslo: 'snow, -3 °C',
  zurich: 'fog in the morning, 9 °C',
};

export const weather = tool(({ city }) => forecasts[city.toLowerCase()] ?? `no forecast for ${city}`, {
  name: 'weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
});

export const add = tool(({ numbers }) => String(numbers.reduce((sum, number) => sum + number, 0)), {
  name: 'add',
  description: 'The sum of some numbers',
  schema: z.object({ numbers: z.array(z.number()) }),
});

export const tools = [weather, add];
