import { expect, it } from 'vitest';
import { StoredPart } from '../stored/stored-part.ts';
import { draftOf } from './state-draft.ts';

const message = (id: string, content = id) => ({ id, type: 'ai', content });
const part = (name: string, digest: string) =>
  new StoredPart({ threadId: 't', checkpointId: 'c' }, [name], { type: 'array', length: 1_000, digest });

it('a draft has the channels that the step has changed', () => {
  const before = { topic: 'tea', plan: 'a', count: 1 };
  expect(draftOf(before, { topic: 'tea', plan: 'b', count: 1 }).update).toEqual({ plan: 'b' });
  expect(draftOf({}, { plan: 'b' }).update).toEqual({ plan: 'b' });
});

it('of a conversation, it has the messages that the step has added or replaced', () => {
  const before = { messages: [message('1'), message('2')] };
  const after = { messages: [message('1'), message('2', 'other'), message('3')] };
  expect(draftOf(before, after).update).toEqual({ messages: [message('2', 'other'), message('3')] });
});

it('a conversation that only became shorter is left out', () => {
  expect(draftOf({ messages: [message('1'), message('2')] }, { messages: [message('2')] }).update).toEqual(
    {},
  );
});

it('a list that has grown is left out, because a reducer may append it again', () => {
  const draft = draftOf(
    { log: ['a'], empty: [], none: null },
    { log: ['a', 'b'], empty: ['a'], none: ['a'], first: ['a'] },
  );
  expect(draft).toMatchObject({ update: {}, additive: ['log', 'empty', 'none', 'first'] });
  expect(draft.channels).toEqual({ log: ['a', 'b'], empty: ['a'], none: ['a'], first: ['a'] });
});

it('a list that the page cannot compare with the earlier one is left out', () => {
  const draft = draftOf({ log: part('log', 'x') }, { log: ['a', 'b'] });
  expect(draft).toMatchObject({ update: {}, additive: ['log'] });
});

it('a list that has other elements than before is in the draft', () => {
  expect(draftOf({ plan: ['a', 'b'] }, { plan: ['c'] }).update).toEqual({ plan: ['c'] });
  expect(draftOf({ plan: ['a'] }, { plan: [] }).update).toEqual({ plan: [] });
});

it('numbers, and texts that have grown, are left out, because a reducer may add them again', () => {
  const draft = draftOf({ sum: 1, text: 'a', plan: 'b' }, { sum: 3, first: 2, text: 'a b', plan: 'c' });
  expect(draft).toMatchObject({ update: { plan: 'c' }, additive: ['sum', 'first', 'text'] });
});

it('without a parent, the draft is empty', () => {
  const values = { log: ['a', 'b'], sum: 2, messages: [message('1')], plan: 'a' };
  expect(draftOf(undefined, values)).toEqual({ update: {}, channels: values, unread: [], additive: [] });
});

it('a channel can have any name', () => {
  const after = JSON.parse('{"__proto__": {"a": 1}, "constructor": "b"}') as object;
  const { update, channels } = draftOf({}, after);
  expect(JSON.stringify(update)).toBe(JSON.stringify(after));
  expect(Object.keys(channels)).toEqual(['__proto__', 'constructor']);
  expect(draftOf(after, {}).update).toEqual({});
  expect(draftOf(after, after).update).toEqual({});
});

it('what was not read whole or exactly is never in a draft', () => {
  const draft = draftOf(
    { documents: part('documents', 'x') },
    { documents: part('documents', 'y'), id: JSON.parse('9007199254740993') as number, plan: 'b' },
  );
  expect(draft).toEqual({
    update: { plan: 'b' },
    channels: { plan: 'b' },
    unread: ['documents', 'id'],
    additive: [],
  });
});

it('a state that is read in parts has an empty draft, and so has one whose parent is', () => {
  const whole = new StoredPart({ threadId: 't', checkpointId: 'c' }, [], { type: 'object', length: 20_000 });
  expect(draftOf({}, whole)).toEqual({ update: {}, channels: {}, unread: [], additive: [] });
  expect(draftOf(whole, { plan: 'b' })).toMatchObject({ update: {}, channels: { plan: 'b' } });
});
