import { expect, it } from 'vitest';
import { fieldsOf } from '../graph/read-schema.ts';
import { readForm, readInput } from './composer.tsx';

it('an input is an object', () => {
  expect(readInput('{ "topic": "tea" }')).toEqual({ value: { topic: 'tea' } });
  for (const text of ['', '7', '["tea"]'])
    expect(readInput(text)).toEqual({ problem: 'The input must be an object.' });
});

it('an input with an integer that the browser rounds is not sent', () => {
  const rounded = '9007199254740993 would be rounded: write it as a text.';
  expect(readInput('{ "order": [9007199254740993] }')).toEqual({ problem: rounded });
  expect(readInput('{ "order": ["9007199254740993"] }')).toEqual({ value: { order: ['9007199254740993'] } });
  const fields = fieldsOf({ properties: { order: { type: 'integer' } } });
  const form = { fields, conversation: 'messages', content: 'Where is 9007199254740993?' };
  expect(readForm({ ...form, draft: { order: '9007199254740993' } })).toEqual({
    problem: `order: ${rounded}`,
  });
  expect(readForm({ ...form, draft: { order: '7' } })).toMatchObject({
    value: { order: 7, messages: [{ type: 'human', content: 'Where is 9007199254740993?' }] },
  });
});
