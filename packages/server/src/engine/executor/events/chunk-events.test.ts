import { expect, it } from 'vitest';
import { checkpointRefs } from '../../dispatch/protocol.ts';
import { ChunkEvents } from './chunk-events.ts';

const texts = { toJson: (value: unknown): string => JSON.stringify(value) };

const state = { messages: ['hello'] };
const checkpoint = {
  config: { configurable: { checkpoint_id: 'c1' } },
  values: state,
  metadata: { step: 0, source: 'loop' },
  next: [],
  tasks: [],
};

const eventsOf = (modes: string[], take: (chunks: ChunkEvents) => void): string[] => {
  const events: string[] = [];
  take(new ChunkEvents(modes, true, (event) => events.push(event), texts));
  return events;
};

it('emits a checkpoint immediately before its state, for each graph of the tree', () => {
  const events = eventsOf(['values', 'tasks', checkpointRefs], (chunks) => {
    chunks.chunk([], 'values', state);
    chunks.chunk(['agent:1'], 'values', state);
    chunks.chunk(['agent:1'], 'checkpoints', checkpoint);
    chunks.chunk([], 'checkpoints', checkpoint);
    chunks.chunk([], 'tasks', {});
  });
  expect(events).toEqual([`${checkpointRefs}|agent:1`, 'values|agent:1', checkpointRefs, 'values', 'tasks']);
});

it('emits a state without a checkpoint before the next event of its graph, or when the engine has ended', () => {
  const modes = ['values', 'updates', checkpointRefs];
  const events = eventsOf(modes, (chunks) => {
    chunks.chunk([], 'values', state);
    chunks.chunk([], 'updates', {});
    chunks.chunk([], 'values', state);
    chunks.end();
    chunks.end();
  });
  expect(events).toEqual(['values', 'updates', 'values']);
});

it('emits an interrupt at once', () => {
  const events = eventsOf(['values', checkpointRefs], (chunks) =>
    chunks.chunk([], 'values', { __interrupt__: [] }),
  );
  expect(events).toEqual(['values']);
});

it('keeps the order of the engine when no reference to a checkpoint is requested', () => {
  const events = eventsOf(['values', 'checkpoints'], (chunks) => {
    chunks.chunk([], 'values', state);
    chunks.chunk([], 'checkpoints', checkpoint);
  });
  expect(events).toEqual(['values', 'checkpoints']);
});
