import { expect, it } from 'vitest';
import { readMessages } from '../messages/read-messages.ts';
import { mergeMessages } from './merge-messages.ts';

const raw = (id: string, content: string, type = 'human') => ({ id, content, type });
const stored = readMessages({ messages: [raw('1', 'a'), raw('2', 'b', 'ai'), raw('3', 'c')] });
const texts = (...given: Parameters<typeof mergeMessages>) => mergeMessages(...given).map(({ text }) => text);

it('what was sent and what is streamed comes after what the thread has, each message once', () => {
  const sent = { messages: [raw('4', 'd')], cutId: undefined };
  const streamed = new Map([
    ['4', raw('4', 'd')],
    ['5', raw('5', 'e', 'ai')],
  ]);
  expect(texts(stored, sent, streamed)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('a fork replaces the message and those after it', () => {
  expect(texts(stored, { messages: [raw('9', 'edited')], cutId: '1' }, new Map())).toEqual(['edited']);
});
