import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageTexts } from './message-texts.ts';

const message = fc.oneof(
  fc.record({ content: fc.string(), id: fc.string() }).map((fields) => new HumanMessage(fields)),
  fc
    .record({ content: fc.string(), additional_kwargs: fc.dictionary(fc.string(), fc.jsonValue()) })
    .map((fields) => new AIMessage(fields as never)),
  fc.string().map((content) => new ToolMessage({ content, tool_call_id: 'call', artifact: new Date(0) })),
);
const leaf = fc.oneof(message, fc.jsonValue(), fc.constant(undefined), fc.date({ noInvalidDate: true }));
const payload = fc.oneof(
  leaf,
  fc.array(leaf),
  fc.dictionary(fc.string(), fc.oneof(leaf, fc.array(leaf), fc.array(fc.array(leaf)))),
);

describe('texts of messages', () => {
  it('equal the results of JSON.stringify(), the first time and later', () => {
    fc.assert(
      fc.property(payload, (value) => {
        const texts = new MessageTexts();
        const text = JSON.stringify(value);
        expect([texts.textOf(value), texts.textOf(value)]).toEqual([text, text]);
      }),
    );
  });

  it.each<[string, (message: AIMessage) => void]>([
    ['its id', (one) => (one.id = 'given later')],
    ['a block of its content', (one) => ((one.content as { text: string }[])[0]!.text = 'other')],
    ['something deep in its metadata', (one) => ((one.response_metadata['a'] as { b: number }).b = 2)],
    ['a new key', (one) => (one.additional_kwargs['new'] = 1)],
    ['a tool call', (one) => one.tool_calls?.push({ name: 'f', args: {} })],
  ])('are new when a message was changed in %s', (_, change) => {
    const texts = new MessageTexts();
    const one = new AIMessage({
      content: [{ type: 'text', text: 'first' }],
      response_metadata: { a: { b: 1 } } as never,
    });
    texts.textOf([one]);
    change(one);
    expect(texts.textOf([one])).toBe(JSON.stringify([one]));
  });
});
