import { expect, it } from 'vitest';
import { lackingFields } from './columns.tsx';

const messages = { type: 'array', langgraph_type: 'messages' };
const schema = (properties: object) => ({ type: 'object', properties });

it('fields that the other input schema does not have are named, also the conversation', () => {
  const form = schema({ messages, topic: { type: 'string' }, plan: { type: 'string' } });
  expect(lackingFields(form, schema({ topic: { type: 'string' } }))).toEqual(['messages', 'plan']);
  expect(lackingFields(form, form)).toEqual([]);
});

it('a schema that is not read yet, or names no field, lacks none', () => {
  const form = schema({ messages });
  expect(lackingFields(form, undefined)).toEqual([]);
  expect(lackingFields(form, { type: 'object' })).toEqual([]);
  expect(lackingFields(undefined, form)).toEqual([]);
});
