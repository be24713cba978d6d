import { expect, it } from 'vitest';
import { withAssistant, withComparison, withNewThreads, withoutSide } from './compared-search.ts';

const both = {
  assistant: 'a',
  thread: 't1',
  run: 'r1',
  compare: 'b',
  compareThread: 't2',
  compareRun: 'r2',
  column: 'right',
} as const;

it('a comparison keeps the thread and the run of the assistant that was there', () => {
  expect(withComparison({ thread: 't', run: 'r', part: 'graph' }, 'a', 'b')).toEqual({
    assistant: 'a',
    thread: 't',
    run: 'r',
    compare: 'b',
  });
});

it('the column that stays after a comparison has its thread and its run', () => {
  expect(withoutSide(both, 'right')).toEqual({ assistant: 'a', thread: 't1', run: 'r1' });
  expect(withoutSide(both, 'left')).toEqual({ assistant: 'b', thread: 't2', run: 'r2' });
});

it('another assistant of one column begins a new thread there only', () => {
  expect(withAssistant(both, 'right', 'c')).toMatchObject({ thread: 't1', run: 'r1', compare: 'c' });
  expect(withAssistant(both, 'right', 'c').compareThread).toBeUndefined();
  expect(withAssistant(both, 'left', 'c')).toMatchObject({ assistant: 'c', compareThread: 't2' });
  expect(withAssistant(both, 'left', 'c').run).toBeUndefined();
});

it('new threads keep both assistants', () => {
  expect(withNewThreads(both)).toEqual({ assistant: 'a', compare: 'b', column: 'right' });
});
