// A writer may provide its items in several flushes.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CheckpointBatch } from '../../storage/deployment/checkpoint-rows.ts';
import { CommitQueue, LeaseLost, noItems, type Writer } from './commit-queue.ts';

/** A writer with the given number of events, one per flush. */
const eventsOf = (count: number): Writer => {
  let id = 0;
  return {
    owner: { owner: 'run', lease_token: 1 },
    get isPartial() {
      return id < count;
    },
    drain() {
      const event = { first_id: id, last_id: id, events: 'custom\n{}\n', keep_from: null };
      id += 1;
      return { ...noItems(), events: [event] };
    },
  };
};

/** Storage that records the flushes, and returns `answer` for the flush with the given number. */
const openQueue = (failing?: number, answer?: () => string[]) => {
  const flushes: number[][] = [];
  const commit = (batch: CheckpointBatch): Promise<string[]> => {
    flushes.push(batch.events.map(({ first_id }) => first_id));
    return Promise.resolve().then(() => (flushes.length === failing && answer ? answer() : []));
  };
  return { queue: new CommitQueue({ commit }), flushes };
};

describe('a writer with items for several flushes', () => {
  it('is stored when all flushes are', async () => {
    const { queue, flushes } = openQueue();
    await queue.commit(eventsOf(3));
    expect(flushes).toEqual([[0], [1], [2]]);
  });

  it('fails with the error of any flush', async () => {
    const { queue } = openQueue(2, () => {
      throw new Error('no such row');
    });
    await expect(queue.commit(eventsOf(3))).rejects.toThrow('no such row');
  });

  it('loses its lease with any flush', async () => {
    const { queue } = openQueue(1, () => ['run']);
    await expect(queue.commit(eventsOf(3))).rejects.toThrow(LeaseLost);
  });
});

/** Turns of the event loop, each after the flushes that were due. */
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

describe('items for which nobody waits', () => {
  afterEach(() => vi.useRealTimers());

  it('are stored a few milliseconds later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, flushes } = openQueue();
    const stored = queue.commit(eventsOf(1), 'soon');
    await turns(5);
    expect(flushes).toEqual([]);
    vi.advanceTimersByTime(5);
    await stored;
    expect(flushes).toEqual([[0]]);
  });

  it('are stored with items for which somebody waits', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, flushes } = openQueue();
    const soon = queue.commit(eventsOf(1), 'soon');
    await Promise.all([queue.commit(eventsOf(1)), soon]);
    expect(flushes).toEqual([[0, 0]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('wait as long when they were added during a flush', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { queue, flushes } = openQueue();
    const now = queue.commit(eventsOf(1));
    await Promise.race([turns(1), now]);
    const soon = queue.commit(eventsOf(1), 'soon');
    await now;
    await turns(5);
    expect(flushes).toHaveLength(1);
    vi.advanceTimersByTime(5);
    await soon;
    expect(flushes).toHaveLength(2);
  });
});
