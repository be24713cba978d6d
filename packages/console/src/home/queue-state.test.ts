import { expect, it } from 'vitest';
import { blockedExecutors } from './queue-state.tsx';

it('names the number of executors that are blocked by a graph', () => {
  expect(blockedExecutors(0)).toEqual([]);
  expect(blockedExecutors(1)).toMatchObject([
    { tone: 'red', sentence: expect.stringMatching(/^1 executor of/) },
  ]);
  expect(blockedExecutors(2)).toMatchObject([{ sentence: expect.stringMatching(/^2 executors of/) }]);
});
