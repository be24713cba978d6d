import fc from 'fast-check';
import { expect, it } from 'vitest';
import { objectDraft, otherDraft, readObject } from './object-draft.ts';

const schema = {
  properties: {
    prompt: { type: 'string', default: 'Be kind.' },
    tone: { enum: ['dry', 'warm'] },
    turns: { type: 'integer' },
    isOpen: { type: 'boolean' },
    tools: { type: 'array' },
  },
  required: ['prompt'],
};

const value = { prompt: 'Be brief.\nAlways.', turns: 3, isOpen: false, tools: ['search'], other: { a: 1 } };

it('a value becomes a form of its schema and is read from it unchanged, also what the schema does not name', () => {
  const draft = objectDraft(value, schema);
  expect(draft).toMatchObject({ as: 'form', rest: { other: { a: 1 } } });
  expect(readObject(draft)).toEqual({ value });
});

it('an empty form sets nothing: the graph has its own defaults', () => {
  for (const empty of [undefined, {}])
    expect(readObject(objectDraft(empty, schema))).toEqual({ value: undefined });
});

it('a value that the form would change is edited as JSON', () => {
  for (const odd of [
    { prompt: 7 },
    { prompt: '' },
    { tone: 'loud' },
    { turns: '3' },
    [1],
    { turns: 2 ** 60 },
  ])
    expect(objectDraft(odd, schema)).toMatchObject({ as: 'json' });
  expect(objectDraft({ a: 1 }, null)).toEqual({ as: 'json', text: '{\n  "a": 1\n}' });
});

it('a draft changes between form and JSON without a loss, and stays as it is while it has a mistake', () => {
  const json = otherDraft(objectDraft(value, schema), schema);
  expect(json).toMatchObject({ as: 'json' });
  expect(json && readObject(json)).toEqual({ value });
  expect(json && otherDraft(json, schema)).toEqual(objectDraft(value, schema));
  expect(otherDraft({ as: 'json', text: '{' }, schema)).toBeUndefined();
  expect(otherDraft({ as: 'json', text: '{}' }, null)).toBeUndefined();
});

it('every object is read from its draft unchanged', () => {
  const anything = fc.dictionary(
    fc.constantFrom('prompt', 'tone', 'turns', 'isOpen', 'tools', 'other'),
    fc.jsonValue({ noUnicodeString: false }),
  );
  fc.assert(
    fc.property(anything, (object) => {
      const plain = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
      const read = readObject(objectDraft(plain, schema));
      if ('problem' in read) expect(read.problem).toMatch(/would be rounded/);
      else expect(read.value ?? {}).toEqual(plain);
    }),
  );
});
