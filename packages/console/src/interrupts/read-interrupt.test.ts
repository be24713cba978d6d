import { describe, expect, it } from 'vitest';
import { questionsOf, readInterrupt, resumeOf, titleOf } from './read-interrupt.ts';

const answers = (value: unknown, given?: unknown) =>
  readInterrupt(value).actions.map(({ choices }) =>
    Object.fromEntries(choices.map(({ label, decide }) => [label, decide(given)])),
  );

describe('the form of an interrupt', () => {
  it('of the middleware for people in the loop has the decisions that are allowed', () => {
    const value = {
      action_requests: [{ name: 'send', args: { to: 'all' }, description: 'Sends mail' }],
      review_configs: [{ action_name: 'send', allowed_decisions: ['approve', 'edit', 'reject'] }],
    };
    expect(readInterrupt(value)).toMatchObject({
      title: 'Allow send?',
      actions: [{ title: 'Allow send?', description: 'Sends mail', args: { to: 'all' } }],
    });
    expect(answers(value, 'no')).toEqual([
      {
        Approve: { type: 'approve' },
        'Run edited': { type: 'edit', edited_action: { name: 'send', args: 'no' } },
        Reject: { type: 'reject', message: 'no' },
      },
    ]);
  });

  it('of the middleware in JavaScript has its spelling, and one decision for each action', () => {
    const value = {
      actionRequests: [
        { name: 'send', args: { to: 'all' }, description: 'Sends mail' },
        { name: 'delete', args: { id: 7 } },
        { name: 'send', args: { to: 'ann' } },
      ],
      reviewConfigs: [
        { actionName: 'delete', allowedDecisions: ['approve'] },
        { actionName: 'send', allowedDecisions: ['edit', 'respond'] },
      ],
    };
    const edited = { 'Run edited': { type: 'edit', editedAction: { name: 'send', args: 'x' } } };
    const send = { ...edited, Respond: { type: 'respond', message: 'x' } };
    const form = readInterrupt(value);
    expect(form.title).toBe('Allow 3 actions?');
    expect(answers(value, 'x')).toEqual([send, { Approve: { type: 'approve' } }, send]);
    expect(form.answer([1, 2, 3])).toEqual({ decisions: [1, 2, 3] });
    expect(titleOf({ ...value, actionRequests: [{ name: 'send' }] })).toBe('Allow send?');
  });

  it('of the agent inbox has the answers that its config allows', () => {
    const value = [
      {
        action_request: { action: 'send', args: { to: 'all' } },
        config: { allow_accept: true, allow_ignore: true },
      },
    ];
    const decisions = { Accept: { type: 'accept', args: null }, Ignore: { type: 'ignore', args: null } };
    expect(answers(value)).toEqual([decisions]);
    expect(answers([value, value].flat())).toEqual([decisions, decisions]);
    expect(readInterrupt(value).answer([{ type: 'accept', args: null }])).toEqual([
      { type: 'accept', args: null },
    ]);
  });

  it('has no actions for any other value: any value is an answer', () => {
    for (const value of [
      { question: 'Send this?' },
      'Really?',
      7,
      null,
      undefined,
      [],
      { action_requests: [] },
      { actionRequests: [7] },
    ])
      expect(readInterrupt(value).actions).toEqual([]);
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
