import { expect, it } from 'vitest';
import { StoredText } from '../codec/stored-text.ts';
import { idsOfInterrupts, OpenInterrupts } from './open-interrupts.ts';

const opened = (...writes: [string, string, unknown][]) => {
  const interrupts = new OpenInterrupts();
  interrupts.load('1', writes);
  return interrupts;
};

it('are unknown before a checkpoint was loaded or created', () => {
  const interrupts = new OpenInterrupts();
  expect(interrupts.known).toBeUndefined();
  interrupts.begin('1');
  expect(interrupts.known).toEqual(new Map());
});

it('are those of the loaded tasks that have not finished, in any order of their writes', () => {
  const asks: [string, string, unknown] = ['a', '__interrupt__', [{ value: 'a?' }]];
  const done: [string, string, unknown] = ['a', 'log', 'done'];
  const other: [string, string, unknown] = ['b', '__interrupt__', [{ value: 'b?' }]];
  const answer: [string, string, unknown] = ['b', '__resume__', ['yes']];
  const expected = new Map([['b', [{ value: 'b?' }]]]);
  expect(opened(asks, done, other, answer).known).toEqual(expected);
  expect(opened(done, answer, other, asks).known).toEqual(expected);
});

it('follow what tasks write', () => {
  const interrupts = opened(['a', '__interrupt__', [{ value: 'a?' }]]);
  interrupts.add('1', 'a', [['__resume__', ['yes']]]);
  interrupts.add('1', 'b', [['__interrupt__', [{ value: 'b?' }]]]);
  expect([...(interrupts.known?.keys() ?? [])]).toEqual(['a', 'b']);
  interrupts.add('1', 'a', [['log', 'done']]);
  interrupts.add('1', 'b', [['__error__', 'failed']]);
  expect([...(interrupts.known?.keys() ?? [])]).toEqual(['b']);
});

it('are kept when the checkpoint is put after the writes of its tasks', () => {
  const interrupts = opened(['a', '__interrupt__', [{ value: 'a?' }]]);
  interrupts.add('2', 'b', [['__interrupt__', [{ value: 'b?' }]]]);
  interrupts.begin('2');
  expect([...(interrupts.known?.keys() ?? [])]).toEqual(['b']);
  interrupts.add('1', 'c', [['__interrupt__', [{ value: 'of an older checkpoint' }]]]);
  expect([...(interrupts.known?.keys() ?? [])]).toEqual(['b']);
});

it('are kept when an older checkpoint is put between the writes and the put of the newest one', () => {
  const interrupts = new OpenInterrupts();
  interrupts.add('2', 'a', [['__interrupt__', [{ value: 'a?' }]]]);
  interrupts.begin('1');
  interrupts.begin('2');
  expect([...(interrupts.known?.keys() ?? [])]).toEqual(['a']);
});

it('are those of tasks, and not of the calls within them', () => {
  const asked: [string, unknown] = ['__interrupt__', [{ value: '?' }]];
  const interrupts = new OpenInterrupts();
  interrupts.load(
    '1',
    [
      ['call', ...asked],
      ['task', ...asked],
    ],
    [{ id: 'task' }],
  );
  expect([...(interrupts.known?.keys() ?? [])]).toEqual(['task']);
  interrupts.add('1', 'call', [asked]);
  expect([...(interrupts.ofTasks([{ id: 'task' }])?.keys() ?? [])]).toEqual(['task']);
});

it('are in the order of the tasks, whichever asks first', () => {
  const interrupts = opened(
    ['second', '__interrupt__', [{ value: '?' }]],
    ['first', '__interrupt__', [{ value: '?' }]],
  );
  const tasks = [{ id: 'first' }, { id: 'second' }];
  expect([...(interrupts.ofTasks(tasks)?.keys() ?? [])]).toEqual(['first', 'second']);
});

it('have ids, also those of Python graphs, which are texts', () => {
  const text = new StoredText('{"value":{"id":"no"},"id":"b"}');
  expect(idsOfInterrupts([{ value: 1, id: 'a' }, text, { value: 1 }, null])).toEqual(['a', 'b']);
  expect(idsOfInterrupts(text)).toEqual(['b']);
});
