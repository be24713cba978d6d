import { expect, it } from 'vitest';
import { readStack } from './read-stack.ts';

it('separates causes, and frames of libraries from those of the project', () => {
  const stack = [
    'PlanError: No plan.',
    '    at plan (/app/plan.ts:3:9)',
    '    at invoke (/app/node_modules/@langchain/langgraph/dist/utils.js:1:1)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    'Caused by: TypeError: fetch failed',
    '    at fetch (/app/fetch.ts:1:1)',
    'Caused by: socket closed',
  ].join('\n');
  expect(readStack(stack, 'PlanError: No plan.')).toEqual([
    {
      head: 'PlanError: No plan.',
      parts: [
        { isLibrary: false, lines: ['    at plan (/app/plan.ts:3:9)'] },
        {
          isLibrary: true,
          lines: [
            '    at invoke (/app/node_modules/@langchain/langgraph/dist/utils.js:1:1)',
            '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
          ],
        },
      ],
    },
    {
      head: 'TypeError: fetch failed',
      parts: [{ isLibrary: false, lines: ['    at fetch (/app/fetch.ts:1:1)'] }],
    },
    { head: 'socket closed', parts: [] },
  ]);
});

it('keeps the traceback of a Python graph, whose server has left the libraries out', () => {
  const stack =
    'Traceback (most recent call last):\n  File "agent.py", line 3, in plan\nValueError: none\ncaused by KeyError: \'a\'';
  const [error, cause] = readStack(stack, 'ValueError: none');
  expect(error?.head).toBe('ValueError: none');
  expect(error?.parts.flatMap(({ lines }) => lines)).toHaveLength(3);
  expect(cause?.head).toBe("KeyError: 'a'");
});
