import { describe, expect, it } from 'vitest';
import { assistantIdOf, defaultAssistantId } from './default-assistant.ts';

describe('the id of a default assistant', () => {
  it.each([
    ['agent', 'fe096781-5601-53d2-b2f6-0d3403f7e9ca'],
    ['', 'e0e91d1a-dcd6-5d9c-bf2e-f544030263cf'],
  ])('of graph %j is the one that other implementations derive', (graph_id, id) => {
    expect(defaultAssistantId(graph_id)).toBe(id);
  });

  it('is derived from a graph id; an assistant id is used in lower case', () => {
    expect(assistantIdOf('agent')).toBe(defaultAssistantId('agent'));
    expect(assistantIdOf('FE096781-5601-53D2-B2F6-0D3403F7E9CA')).toBe(
      'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
    );
    expect(assistantIdOf('fe096781')).toBe(defaultAssistantId('fe096781'));
  });
});
