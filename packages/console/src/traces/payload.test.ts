import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPayload } from './payload.ts';

const toolMessage = (kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', 'ToolMessage'],
  kwargs: { tool_call_id: 'c', ...kwargs },
});

describe('the inputs and outputs of a tool', () => {
  it('are its arguments and its result, without what is around them', () => {
    expect(readPayload('tool', 'inputs', { input: '{"city":"Oslo"}' })).toMatchObject({
      kind: 'tool',
      shown: { city: 'Oslo' },
    });
    const output = toolMessage({ content: 'snow', status: 'success' });
    expect(readPayload('tool', 'outputs', { output })).toMatchObject({ shown: 'snow', isError: false });
    expect(readPayload('tool', 'outputs', { output: toolMessage({ content: '[1]' }) })).toMatchObject({
      shown: [1],
    });
  });

  it('stay as they are where nothing is around them', () => {
    expect(readPayload('tool', 'inputs', { city: 'Oslo', input: 'x' })).toMatchObject({
      shown: { city: 'Oslo', input: 'x' },
    });
    expect(readPayload('tool', 'outputs', '9007199254740993')).toMatchObject({ shown: '9007199254740993' });
  });

  it('say that the tool has failed', () => {
    const failed = toolMessage({ content: 'no such city', status: 'error' });
    expect(readPayload('tool', 'outputs', failed)).toMatchObject({ shown: 'no such city', isError: true });
  });

  it('of any JSON are read without an error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('inputs', 'outputs'), (value, side) => {
        readPayload('tool', side, value);
      }),
    );
  });
});

describe('the inputs and outputs of other spans', () => {
  it('are messages, JSON or nothing', () => {
    expect(readPayload('chain', 'inputs', { messages: [{ type: 'human', content: 'Hi' }] }).kind).toBe(
      'messages',
    );
    expect(readPayload('chain', 'outputs', { answer: 'Hi' }).kind).toBe('json');
    expect(readPayload('llm', 'outputs', null).kind).toBe('none');
  });
});
