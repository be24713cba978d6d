import { expect, test } from 'vitest';
import { StoredText } from '../codec/stored-text.ts';
import { BrokenValue, RunValues } from './run-values.ts';

const parts = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));
const textsOf = (value: StoredText | StoredText[]): unknown =>
  value instanceof StoredText ? value.text : value.map(({ text }) => text);

test('a list is read from the elements that were sent before, and new ones', () => {
  const values = new RunValues();
  const first = values.read(
    'messages',
    {
      l: [0, [0, 1]],
      n: [
        [0, 0],
        [1, 1],
      ],
    },
    parts('"a"', '"b"'),
  );
  expect(textsOf(first)).toEqual(['"a"', '"b"']);
  const second = values.read('messages', { l: [2, [2]], n: [[2, 0]] }, parts('"c"'));
  expect(textsOf(second)).toEqual(['"a"', '"b"', '"c"']);
  expect((second as StoredText[])[0]).toBe((first as StoredText[])[0]);
  expect(textsOf(values.read('other', { l: [0, [1]], n: [] }, []))).toEqual(['"b"']);
  expect(textsOf(values.read('text', { t: 0 }, parts('{}')))).toBe('{}');
});

test('elements that Node has sent are known', () => {
  const values = new RunValues();
  const sent: string[] = [];
  const list = [new StoredText('"a"'), new StoredText('"b"')];
  expect(values.describe('messages', list, sent)).toEqual({
    l: [
      [-1, 0],
      [-2, 1],
    ],
  });
  expect(sent).toEqual(['"a"', '"b"']);
  expect(values.read('messages', { l: [1, [0]], n: [[0, 0]] }, parts('"c"'))).toEqual([
    list[0],
    new StoredText('"c"'),
  ]);
  expect(values.describe('text', new StoredText('1'), sent)).toEqual({ t: 2 });
});

test('a reset drops all elements', () => {
  const values = new RunValues();
  values.read('messages', { l: [0, [0]], n: [[0, 0]] }, parts('"a"'));
  expect(textsOf(values.read('messages', { l: [0, [1]], n: [[1, 0]], reset: true }, parts('"b"')))).toEqual([
    '"b"',
  ]);
  expect(() => values.read('messages', { l: [0, [0]], n: [] }, [])).toThrow(BrokenValue);
});

test('a description that names what was not sent is an error', () => {
  expect(() => new RunValues().read('x', { t: 1 }, parts('1'))).toThrow('a value names the part 1 of 1');
  expect(() => new RunValues().read('x', { l: [0, [3]], n: [] }, [])).toThrow('the unknown element 3');
});
