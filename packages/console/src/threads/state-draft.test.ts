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
  const draft = draftOf({ log: ['a'], empty: [] }, { log: ['a', 'b'], empty: ['a'] });
  expect(draft).toMatchObject({ update: { empty: ['a'] }, appended: ['log'] });
  expect(draft.channels).toEqual({ log: ['a', 'b'], empty: ['a'] });
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
    appended: [],
  });
});

it('a state that is read in parts has an empty draft, and so has one whose parent is', () => {
  const whole = new StoredPart({ threadId: 't', checkpointId: 'c' }, [], { type: 'object', length: 20_000 });
  expect(draftOf({}, whole)).toEqual({ update: {}, channels: {}, unread: [], appended: [] });
  expect(draftOf(whole, { plan: 'b' })).toMatchObject({ update: {}, channels: { plan: 'b' } });
});
