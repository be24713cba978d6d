import { expect, it } from 'vitest';
import { ChunkEvents } from './chunk-events.ts';

const texts = { toJson: (value: unknown): string => JSON.stringify(value) };

const collect = (take: (chunks: ChunkEvents) => void): unknown[] => {
  const events: unknown[] = [];
  take(new ChunkEvents(['lifecycle'], false, (event, data) => events.push([event, data]), texts));
  return events;
};

it('reports the start and the end of each subgraph, inner ones first', () => {
  const events = collect((chunks) => {
    chunks.chunk([], 'tasks', { id: '1', name: 'outer', input: {} });
    chunks.chunk(['outer:1'], 'checkpoints', {});
    chunks.chunk(['outer:1'], 'tasks', { id: '2', name: 'inner', input: {} });
    chunks.chunk(['outer:1', 'inner:2'], 'checkpoints', {});
    chunks.chunk([], 'tasks', { id: '1', name: 'outer', result: {}, interrupts: [] });
    chunks.endSubgraphs(null);
  });
  const [outer, inner] = ['lifecycle|outer:1', 'lifecycle|outer:1|inner:2'];
  expect(events).toEqual([
    [outer, { event: 'started', namespace: ['outer:1'] }],
    [inner, { event: 'started', namespace: ['outer:1', 'inner:2'] }],
    [inner, { event: 'completed', namespace: ['outer:1', 'inner:2'] }],
    [outer, { event: 'completed', namespace: ['outer:1'] }],
  ]);
});

it('names the tool call that started a subgraph', () => {
  const events = collect((chunks) => {
    chunks.chunk([], 'tasks', { id: '1', name: 'tools', input: { lg_tool_call: { id: 'call-1' } } });
    chunks.chunk(['tools:1'], 'checkpoints', {});
  });
  expect(events).toEqual([
    ['lifecycle|tools:1', { event: 'started', namespace: ['tools:1'], tool_call_id: 'call-1' }],
  ]);
});

it('reports a task without a subgraph, and a message of a node, not at all', () => {
  const events = collect((chunks) => {
    chunks.chunk([], 'tasks', { id: '1', name: 'node', input: {} });
    chunks.chunk(['node:1'], 'custom', 'progress');
    chunks.chunk([], 'tasks', { id: '1', name: 'node', result: {}, interrupts: [] });
  });
  expect(events).toEqual([]);
});

it.each([
  ['waits for an answer', null, { event: 'interrupted' }],
  [
    'fails',
    { error: 'TypeError', message: 'no' },
    { event: 'failed', error: { error: 'TypeError', message: 'no' } },
  ],
])('ends open subgraphs when the run %s', (_, error, outcome) => {
  const events = collect((chunks) => {
    chunks.chunk(['inner:1'], 'values', {});
    chunks.endSubgraphs(error);
    chunks.endSubgraphs(error);
  });
  expect(events.slice(1)).toEqual([['lifecycle|inner:1', { ...outcome, namespace: ['inner:1'] }]]);
});
