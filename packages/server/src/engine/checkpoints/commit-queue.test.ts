// A writer may provide its items in several flushes.
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CheckpointBatch } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { CheckpointNotStored } from './checkpoint-not-stored.ts';
import { CommitQueue, LeaseLost, noItems, type Writer } from './commit-queue.ts';

/** A writer with the given number of events, one per flush. */
const eventsOf = (count: number, owner = 'run'): Writer => {
  let id = 0;
  return {
    owner: { owner, lease_token: 1 },
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
    await expect(queue.commit(eventsOf(3))).rejects.toThrow(CheckpointNotStored);
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
    await Promise.all([queue.commit(eventsOf(1, 'other')), soon]);
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

/** Storage that answers each flush as the test says. */
const scripted = (answer: (owners: string[]) => Promise<string[]> | string[], options = {}) => {
  const flushes: string[][] = [];
  const commit = async ({ owners }: CheckpointBatch): Promise<string[]> => {
    const ids = owners.map(({ owner }) => owner);
    flushes.push(ids);
    return answer(ids);
  };
  return { queue: new CommitQueue({ commit }, options), flushes };
};

describe('the fault of one writer', () => {
  it('does not fail the others when it provides no items', async () => {
    const { queue, flushes } = scripted(() => []);
    const broken: Writer = {
      owner: { owner: 'broken', lease_token: 1 },
      drain: () => {
        throw new Error('cannot be encoded');
      },
    };
    const failing = expect(queue.commit(broken)).rejects.toThrow('cannot be encoded');
    await queue.commit(eventsOf(1, 'good'));
    await failing;
    await queue.commit(eventsOf(1, 'later'));
    expect(flushes).toEqual([['good'], ['later']]);
  });

  it('is reported to its writer once, by commit() and by settled()', async () => {
    const { queue } = scripted((ids) => {
      if (ids.includes('bad')) throw new Error('refused');
      return [];
    });
    const settled: (Error | undefined)[] = [];
    // Not a copy: it would be partial for ever, and the queue would flush without end beside all later tests.
    const bad = Object.assign(eventsOf(1, 'bad'), {
      settled: (error: Error | undefined) => void settled.push(error),
    });
    const failing = expect(queue.commit(bad)).rejects.toThrow(CheckpointNotStored);
    await Promise.all([queue.commit(eventsOf(1, 'a')), queue.commit(eventsOf(1, 'b')), failing]);
    expect(settled).toEqual([expect.any(CheckpointNotStored)]);
  });
});

describe('two attempts of one run', () => {
  it('are judged one after the other', async () => {
    const { queue, flushes } = scripted(() => []);
    await Promise.all([queue.commit(eventsOf(1)), queue.commit(eventsOf(1))]);
    expect(flushes).toEqual([['run'], ['run']]);
  });
});

describe('a writer with much to store', () => {
  it('is sent alone, while others are stored', async () => {
    let release!: () => void;
    const held = new Promise<string[]>((resolve) => (release = () => resolve([])));
    const { queue, flushes } = scripted((ids) => (ids.includes('large') ? held : []));
    let drains = 0;
    const large: Writer = {
      owner: { owner: 'large', lease_token: 1 },
      drain: () => {
        drains += 1;
        const events = 'x'.repeat(9 * 1024 * 1024);
        return { ...noItems(), events: [{ first_id: 0, last_id: 0, events, keep_from: null }] };
      },
    };
    const stored = queue.commit(large);
    await queue.commit(eventsOf(1, 'a'));
    const more = queue.commit(large);
    await queue.commit(eventsOf(1, 'b'));
    expect(flushes.filter(([id]) => id !== 'large')).toEqual([['a'], ['b']]);
    expect(drains).toBe(1);
    release();
    await Promise.all([stored, more]);
    expect(drains).toBe(2);
  });
});

describe('a flush during an outage', () => {
  it('is repeated for a limited time, and reported', async () => {
    const onTrouble = vi.fn();
    const { queue, flushes } = scripted(
      () => {
        throw new Problem('unavailable', 'The database cannot be reached', {
          cause: new Error('ECONNREFUSED'),
        });
      },
      { onTrouble, repeatMs: 30 },
    );
    await expect(queue.commit(eventsOf(1))).rejects.toMatchObject({ code: 'unavailable' });
    expect(flushes.length).toBeGreaterThan(1);
    expect(onTrouble).toHaveBeenCalledWith('repeated');
    expect(onTrouble).toHaveBeenLastCalledWith('failed');
  });
});

describe('a large flush that is too slow', () => {
  const large = (): Writer => ({
    owner: { owner: 'large', lease_token: 1 },
    drain: () => ({
      ...noItems(),
      events: [{ first_id: 0, last_id: 0, events: 'x'.repeat(9 * 1024 * 1024), keep_from: null }],
    }),
  });
  const unavailable = (cause: Error) => new Problem('unavailable', 'The database did not respond', { cause });
  const tooSlow = () => {
    const error = new pg.DatabaseError('canceling statement due to statement timeout', 0, 'error');
    return unavailable(Object.assign(error, { code: '57014' }));
  };
  const storedBy = (errors: Error[]) => {
    const { queue } = scripted(() => {
      const error = errors.shift();
      if (error) throw error;
      return [];
    });
    return queue.commit(large());
  };

  it('is reported as not stored', async () => {
    await expect(storedBy([tooSlow(), tooSlow(), tooSlow()])).rejects.toThrow(CheckpointNotStored);
  });

  it('is not reported as not stored when an earlier try may have stored it', async () => {
    const lost = unavailable(new Error('ECONNRESET'));
    await expect(storedBy([tooSlow(), lost, tooSlow(), tooSlow()])).rejects.toBe(lost);
  });
});
