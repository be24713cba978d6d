import { expect, it } from 'vitest';
import { readMessages } from '../messages/read-messages.ts';
import { turnUsage } from './column-figures.tsx';

const ai = (input: number, output: number, total_cost?: number) => ({
  type: 'ai',
  content: '',
  usage_metadata: {
    input_tokens: input,
    output_tokens: output,
    ...(total_cost === undefined ? {} : { total_cost }),
  },
});
const human = { type: 'human', content: 'hi' };
const usageOf = (...messages: object[]) => turnUsage(readMessages({ messages }));

it('the usage of a turn is that of the messages after the last one of the person', () => {
  expect(usageOf(human, ai(1, 2), human, ai(10, 20, 0.5), ai(30, 40, 0.25))).toEqual({
    input: 40,
    output: 60,
    cost: 0.75,
  });
  expect(usageOf(human, ai(1, 2))?.cost).toBeUndefined();
});

it('a turn without a usage has none', () => {
  expect(usageOf(human, ai(1, 2), human, { type: 'ai', content: 'no usage' })).toBeUndefined();
  expect(usageOf()).toBeUndefined();
});
