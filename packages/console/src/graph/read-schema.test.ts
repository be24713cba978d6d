import { expect, it } from 'vitest';
import { fieldsOf, messagesField } from './read-schema.ts';
import { readDraft } from './schema-form.tsx';

const schema = {
  type: 'object',
  properties: {
    messages: { type: 'array', langgraph_type: 'messages' },
    topic: {},
    count: { type: 'integer' },
    tone: { enum: ['dry', 'warm'] },
    tags: { type: 'array' },
  },
  required: ['topic'],
};

it('the conversation of a schema is not one of its fields', () => {
  expect(messagesField(schema)).toBe('messages');
  expect(fieldsOf(schema).map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['topic', 'text', true],
    ['count', 'number', false],
    ['tone', 'choice', false],
    ['tags', 'json', false],
  ]);
});

it('a graph without a schema has no fields', () => {
  for (const none of [null, undefined, {}, { properties: 7 }]) expect(fieldsOf(none)).toEqual([]);
});

it('a draft becomes an object without the empty fields, or says which field is wrong', () => {
  const fields = fieldsOf(schema);
  expect(readDraft(fields, { topic: 'tea', count: '3', tags: '["a"]', tone: '' })).toEqual({
    value: { topic: 'tea', count: 3, tags: ['a'] },
  });
  expect(readDraft(fields, { topic: 'tea', tags: '[' })).toMatchObject({
    problem: expect.stringMatching(/^tags: Not valid JSON/),
  });
});

it('a draft with an integer that the browser rounds becomes no object; a text with such digits stays', () => {
  const fields = fieldsOf(schema);
  const problem = (name: string) => ({
    problem: `${name}: 9007199254740993 would be rounded: write it as a text.`,
  });
  expect(readDraft(fields, { topic: 'tea', count: '9007199254740993' })).toEqual(problem('count'));
  expect(readDraft(fields, { topic: 'tea', tags: '[9007199254740993]' })).toEqual(problem('tags'));
  expect(readDraft(fields, { topic: '9007199254740993' })).toEqual({ value: { topic: '9007199254740993' } });
});

it('a draft without a required field becomes no object, unless the field has a default', () => {
  const fields = fieldsOf(schema);
  for (const draft of [{}, { topic: '' }])
    expect(readDraft(fields, draft)).toEqual({ problem: 'topic is required.' });
  const filled = fieldsOf({ properties: { topic: { default: 'tea' } }, required: ['topic'] });
  expect(readDraft(filled, {})).toEqual({ value: {} });
});

it('booleans and choices have the default of the schema, and a required boolean is false', () => {
  const fields = fieldsOf({
    properties: {
      isShort: { type: 'boolean' },
      isWarm: { type: 'boolean', default: true },
      isOpen: { type: 'boolean' },
      tone: { enum: ['dry', 'warm'], default: 'dry' },
    },
    required: ['isShort'],
  });
  expect(readDraft(fields, {})).toEqual({ value: { isShort: false, isWarm: true, tone: 'dry' } });
  expect(readDraft(fields, { isShort: 'true', isWarm: '', isOpen: 'false', tone: '' })).toEqual({
    value: { isShort: true, isOpen: false },
  });
});
