import { expect, it } from 'vitest';
import { findRoundedInteger, mayBeRounded } from './read-json.ts';

it('an integer that a browser rounds is found, outside of texts', () => {
  expect(findRoundedInteger('{"a": [{"b": 9007199254740993}]}')).toBe('9007199254740993');
  expect(findRoundedInteger('[-9007199254740993]')).toBe('-9007199254740993');
  expect(findRoundedInteger(`[${'9'.repeat(400)}]`)).toHaveLength(400);
});

it('numbers that a browser keeps are not found', () => {
  const text = JSON.stringify({
    a: 2 ** 60,
    b: 1e300,
    c: 0.1,
    d: '9007199254740993 \\" 9007199254740993',
    e: -1,
  });
  expect(findRoundedInteger(text)).toBeUndefined();
});

it('a value that was read may have a rounded integer anywhere in it', () => {
  expect(mayBeRounded(JSON.parse('{"a": [1, {"b": 9007199254740993}]}'))).toBe(true);
  expect(mayBeRounded({ a: [1, null, 'text', 0.5], b: Number.MAX_SAFE_INTEGER })).toBe(false);
});
