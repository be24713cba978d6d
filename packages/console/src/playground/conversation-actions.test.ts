import { expect, it } from 'vitest';
import { forkPoint } from './conversation-actions.ts';

const at = (id: string, parent: string | null, ...messages: string[]) => ({
  checkpoint_id: id,
  parent_checkpoint_id: parent,
  values: { messages: messages.map((message) => ({ id: message })) },
});

const message = (messageId: string) => ({ channel: 'messages', messageId });

it('a fork begins at the newest checkpoint before the message, on the way of the head', () => {
  const history = [
    at('f', 'e', 'm1', 'm2', 'm3'),
    at('e', 'b', 'm1', 'm2'),
    at('d', 'c', 'm1', 'other'), // a branch that is not on the way
    at('c', 'b', 'm1'),
    at('b', 'a', 'm1'),
    at('a', null),
  ];
  expect(forkPoint(history, 'f', message('m2'))).toBe('b');
  expect(forkPoint(history, 'f', message('m1'))).toBe('a');
});

it('a message that is older than the history has no fork point', () => {
  expect(forkPoint([at('b', 'a', 'm1')], 'b', message('m1'))).toBeUndefined();
});
