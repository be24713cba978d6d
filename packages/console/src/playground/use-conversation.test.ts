import { expect, it } from 'vitest';
import { startOf } from './use-conversation.ts';

it('a run at a checkpoint starts with the messages of its input', () => {
  const message = { role: 'user', content: 'hello' };
  const kwargs = { checkpoint: { checkpoint_id: 'c' }, input: { messages: [message], topic: 'tea' } };
  expect(startOf({ kwargs })).toEqual({
    checkpointId: 'c',
    sent: { messages: [message], cutId: undefined },
  });
  expect(startOf({ kwargs: { ...kwargs, input: null } })?.sent.messages).toEqual([]);
});

it('a run without a checkpoint starts at the newest one', () => {
  expect(startOf({ kwargs: { input: { messages: [] } } })).toBeUndefined();
});
