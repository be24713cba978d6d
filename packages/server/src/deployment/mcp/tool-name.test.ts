import { describe, expect, it } from 'vitest';
import { defaultAssistantId } from '../assistants/default-assistant.ts';
import { assistantIdIn, toolNameOf } from './tool-list.ts';

const id = '0b1c2d3e-4f50-4123-8abc-def012345678';
const defaultOf = (graph_id: string) => ({
  assistant_id: defaultAssistantId(graph_id),
  graph_id,
  name: graph_id,
});

describe('the name of a tool', () => {
  it.each([
    ['a default assistant', defaultOf('agent')],
    ['a graph id with other characters', defaultOf('my agent/ü')],
    ['a long graph id', defaultOf('x'.repeat(256))],
    ['a graph id that ends like the id of an assistant', defaultOf(`x-${id.replaceAll('-', '')}`)],
    ['an assistant', { assistant_id: id, graph_id: 'agent', name: 'Support, level 2' }],
    ['an assistant without letters in its name', { assistant_id: id, graph_id: 'agent', name: '助手' }],
    ['an assistant with the name of a graph', { assistant_id: id, graph_id: 'agent', name: 'agent' }],
  ])('is legal and names its assistant: %s', (_, assistant) => {
    const name = toolNameOf(assistant);
    expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(assistantIdIn(name)).toBe(assistant.assistant_id);
  });

  it('is the id of the graph for its default assistant', () => {
    expect(toolNameOf(defaultOf('agent'))).toBe('agent');
  });

  it.each(['', 'a b', '../agent', 'x'.repeat(65)])('is never %j', (name) => {
    expect(assistantIdIn(name)).toBeUndefined();
  });
});
