import * as documents from '@langchain/core/documents';
import * as messages from '@langchain/core/messages';
import * as langgraph from '@langchain/langgraph';
import * as checkpoint from '@langchain/langgraph-checkpoint';
import { expect, it, vi } from 'vitest';
import { createCodec } from '../../codec/value-codec.ts';
import { type EventTexts, TokenTexts } from './token-texts.ts';

const codec = createCodec({ messages, langgraph, checkpoint, documents });

it('has the JSON of the whole event, and converts the metadata of a model once', () => {
  const toJson = vi.fn<EventTexts['toJson']>((value, name) => codec.toJson(value, name));
  const tokens = new TokenTexts({ toJson });
  const metadata = { langgraph_node: 'model', tags: ['a'], at: new Date(0), missing: undefined };
  for (const content of ['one', 'two']) {
    const message = new messages.AIMessageChunk({ content, id: 'm' });
    expect(tokens.toJson([message, metadata], 'messages')).toBe(codec.toJson([message, metadata]));
  }
  expect(toJson.mock.calls.filter(([value]) => value === metadata)).toHaveLength(1);
});

it('names the part of a token that cannot be sent', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const tokens = new TokenTexts(codec);
  expect(() => tokens.toJson([cycle, {}], 'messages')).toThrow('messages[0].self');
  expect(() => tokens.toJson(['text', cycle], 'messages')).toThrow('messages[1].self');
});
