import { describe, expect, it } from 'vitest';
import { questionsOf, readInterrupt, resumeOf, titleOf } from './read-interrupt.ts';

const answers = (value: unknown, given?: unknown) =>
  Object.fromEntries(readInterrupt(value).choices.map(({ label, answer }) => [label, answer(given)]));

describe('the form of an interrupt', () => {
  it('of the middleware for people in the loop has the decisions that are allowed', () => {
    const value = {
      action_requests: [{ name: 'send', args: { to: 'all' }, description: 'Sends mail' }],
      review_configs: [{ action_name: 'send', allowed_decisions: ['approve', 'edit', 'reject'] }],
    };
    expect(readInterrupt(value)).toMatchObject({
      title: 'Allow send?',
      description: 'Sends mail',
      args: { to: 'all' },
    });
    expect(answers(value, 'no')).toEqual({
      Approve: { decisions: [{ type: 'approve' }] },
      'Run edited': { decisions: [{ type: 'edit', edited_action: { name: 'send', args: 'no' } }] },
      Reject: { decisions: [{ type: 'reject', message: 'no' }] },
    });
  });

  it('of the agent inbox has the answers that its config allows', () => {
    const value = [
      {
        action_request: { action: 'send', args: { to: 'all' } },
        config: { allow_accept: true, allow_ignore: true },
      },
    ];
    expect(answers(value)).toEqual({
      Accept: [{ type: 'accept', args: null }],
      Ignore: [{ type: 'ignore', args: null }],
    });
  });

  it('has no choices for any other value: the answer is JSON', () => {
    for (const value of [
      { question: 'Send this?' },
      'Really?',
      7,
      null,
      undefined,
      [],
      { action_requests: [] },
    ])
      expect(readInterrupt(value).choices).toEqual([]);
  });
});

it('the title of a question is its text, or the value itself', () => {
  expect(titleOf('Really?')).toBe('Really?');
  expect(titleOf({ question: 'Send this?', draft: 'x' })).toBe('Send this?');
  expect(titleOf(7)).toBe('7');
  expect(titleOf(undefined)).toBe('Waiting for an answer');
});

it('an answer names its interrupt, so that other questions of the thread stay open', () => {
  const [question] = questionsOf({ tasks: [{ name: 'review', interrupts: [{ id: 'i', value: 'ok?' }] }] });
  expect(question).toEqual({ id: 'i', node: 'review', value: 'ok?' });
  expect(question && resumeOf(question, true)).toEqual({ i: true });
});
