import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { payloadMessages } from './payload-messages.ts';

/** A message in the form of the constructors of LangChain. */
const constructed = (name: string, kwargs: object) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'messages', name],
  kwargs,
});

/** The kinds and texts of the conversations in a payload. */
const textsIn = (payload: unknown): string[][] | undefined =>
  payloadMessages(payload)?.conversations.map((messages) =>
    messages.map(({ kind, text }) => `${kind}: ${text}`),
  );

const human = { type: 'human', content: 'Hi' };
const ai = constructed('AIMessage', { content: 'Hello', id: 'a', tool_calls: [] });

describe('the messages of a payload', () => {
  it('are found in the state of a graph, in the lists that a model gets, and at the top', () => {
    expect(textsIn({ messages: [human, ai] })).toEqual([['human: Hi', 'ai: Hello']]);
    expect(textsIn({ messages: [[human, ai]] })).toEqual([['human: Hi', 'ai: Hello']]);
    expect(textsIn({ messages: [[human], [ai]] })).toEqual([['human: Hi'], ['ai: Hello']]);
    expect(textsIn(ai)).toEqual([['ai: Hello']]);
    expect(textsIn({ output: ai })).toEqual([['ai: Hello']]);
    expect(textsIn({ input: [human, ai] })).toEqual([['human: Hi', 'ai: Hello']]);
    expect(textsIn({ lg_name: 'Command', update: { messages: [ai] } })).toEqual([['ai: Hello']]);
    expect(textsIn({ topic: 'x', history: [human] })).toEqual([['human: Hi']]);
  });

  it('are found in the generations of a model', () => {
    const generations = [[{ text: 'Hello', message: ai, generationInfo: { finish: 'stop' } }]];
    const found = payloadMessages({ generations, llmOutput: { tokens: 3 } });
    expect(found?.conversations[0]).toMatchObject([{ kind: 'ai', text: 'Hello', id: 'a' }]);
    expect(found?.rest).toEqual({
      llmOutput: { tokens: 3 },
      generations: [[{ generationInfo: { finish: 'stop' } }]],
    });
    expect(textsIn({ generations: [[{ text: 'plain' }]] })).toEqual([['ai: plain']]);
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' } }];
    expect(textsIn({ choices })).toEqual([['ai: Hello']]);
  });

  it('have their calls of tools in one form', () => {
    const calls = [{ id: 'c', name: 'weather', args: { city: 'Oslo' } }];
    const [called] = calls;
    const sent = { id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
    const used = { type: 'tool_use', id: 'c', name: 'weather', input: { city: 'Oslo' } };
    for (const message of [
      constructed('AIMessage', { content: '', tool_calls: calls }),
      { role: 'assistant', content: null, tool_calls: [sent] },
      { type: 'ai', content: '', tool_calls: [], additional_kwargs: { tool_calls: [sent] } },
      constructed('AIMessageChunk', { content: [used] }),
    ])
      expect(payloadMessages({ messages: [message] })?.conversations[0]?.[0]?.toolCalls).toEqual([called]);
  });

  it('leave everything beside them', () => {
    expect(payloadMessages({ messages: [human], topic: 'weather', nothing: null })?.rest).toEqual({
      topic: 'weather',
    });
    expect(payloadMessages({ output: { messages: [human], topic: 'weather' } })?.rest).toEqual({
      output: { topic: 'weather' },
    });
    expect(payloadMessages({ messages: [human] })?.rest).toBeUndefined();
  });

  it('are shown as JSON where they are none, or have contents that the page cannot show', () => {
    const audio = { type: 'human', content: [{ type: 'smell', data: 'AAAA' }] };
    const removed = { type: 'remove', id: 'x' };
    const shown = payloadMessages({ messages: [human, removed, audio, 7] })?.conversations[0];
    expect(shown?.map(({ kind, raw }) => [kind, raw])).toEqual([
      ['human', human],
      ['other', removed],
      ['other', audio],
      ['other', { value: 7 }],
    ]);
  });

  it('have an id only once', () => {
    const twice = payloadMessages({ messages: [ai, ai] })?.conversations[0];
    expect(twice?.map(({ id }) => id)).toEqual(['a', undefined]);
  });

  it.each([
    [null],
    ['text'],
    [[]],
    [{ messages: [] }],
    [{ messages: 'none' }],
    [{ documents: [{ type: 'file', content: 'A text' }] }],
    [{ type: 'text', content: 'A text' }],
    [constructed('Document', { pageContent: 'A text' })],
    [{ generations: [] }],
    [{ generations: [[{ text: '' }]] }],
  ])('are not found in %j', (payload) => {
    expect(payloadMessages(payload)).toBeUndefined();
  });
});

describe('a payload of any JSON', () => {
  it('may have members that have the names of methods', () => {
    const content = [[{ toString: 1, valueOf: 1 }], { type: 'constructor' }, { type: 'text', text: 5 }];
    expect(textsIn({ type: 'human', content, role: 'toString' })).toEqual([
      ['human: [{"toString":1,"valueOf":1}]'],
    ]);
  });

  const keys =
    'messages message output input generations choices update text type role content id lc kwargs data name tool_calls ' +
    'function args arguments additional_kwargs image_url status usage_metadata tool_call_id __proto__ toString';
  const key = fc.constantFrom(...keys.split(' '));
  const leaf = fc.oneof(
    fc.constantFrom<unknown>(
      'human',
      'ai',
      'tool',
      'constructor',
      'toString',
      'AIMessage',
      1,
      null,
      true,
      '',
    ),
    fc.string(),
    fc.double(),
  );
  const { payload } = fc.letrec((tie) => ({
    payload: fc.oneof(
      { depthSize: 'large', withCrossShrink: true },
      leaf,
      fc.array(tie('payload'), { maxLength: 4 }),
      fc.dictionary(key, tie('payload'), { maxKeys: 5 }),
    ),
  }));

  it('never throws, and the messages have texts that can be shown', () => {
    fc.assert(
      fc.property(fc.oneof(payload, fc.jsonValue()), (given) => {
        const found = payloadMessages(JSON.parse(JSON.stringify(given) ?? 'null'));
        for (const message of found?.conversations.flat() ?? []) {
          expect(['human', 'ai', 'tool', 'system', 'other']).toContain(message.kind);
          for (const text of [message.text, message.reasoning, ...message.toolCalls.map(({ name }) => name)])
            expect(typeof text).toBe('string');
        }
        for (const messages of found?.conversations ?? []) expect(messages.length).toBeGreaterThan(0);
      }),
      { numRuns: 2_000 },
    );
  });
});
