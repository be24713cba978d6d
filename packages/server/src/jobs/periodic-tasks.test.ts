import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testDatabase, type TestDatabase } from '../../test/database.ts';
import { eventually } from '../../test/eventually.ts';
import { scaled } from '../../test/speed.ts';
import { periodicTaskStorage, type PeriodicTaskStorage } from '../storage/periodic-tasks.ts';
import { PeriodicTasks, type PeriodicTask } from './periodic-tasks.ts';

let database: TestDatabase;
let storage: PeriodicTaskStorage;
const nodes: PeriodicTasks[] = [];
beforeEach(async () => {
  database = await testDatabase();
  storage = periodicTaskStorage(database);
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await node[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const logger = pino({ level: 'silent' });
const start = (
  task: Partial<PeriodicTask> & Pick<PeriodicTask, 'work'>,
  leaseMs = 600_000,
  name = 'task',
): PeriodicTasks => {
  const node = new PeriodicTasks(storage, [{ name, everyMs: 1, ...task }], { pollMs: 5, leaseMs, logger });
  nodes.push(node);
  return node;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('a periodic task', () => {
  it('is executed by one node at a time, and by every node at some time', async () => {
    let inside = 0;
    let most = 0;
    const rounds = [0, 0, 0];
    for (const node of rounds.keys()) {
      start({
        async work() {
          inside += 1;
          most = Math.max(most, inside);
          await pause(2);
          inside -= 1;
          rounds[node] = (rounds[node] ?? 0) + 1;
          return 0;
        },
      });
    }
    await eventually(() => expect(Math.min(...rounds)).toBeGreaterThan(5));
    expect(most).toBe(1);
  });

  it('continues while there is a full batch, and then waits', async () => {
    const left = [10, 10, 10, 3];
    const work = vi.fn(() => Promise.resolve(left.shift() ?? 0));
    start({ work, batch: 10, everyMs: 3_600_000 });
    await eventually(() => expect(left).toEqual([]));
    await eventually(async () => expect(await storage.claim(['task'], 1)).toEqual([]));
    expect(work).toHaveBeenCalledTimes(4);
  });

  it('is retried after it failed, and other tasks are not affected', async () => {
    const bad = vi.fn(() => Promise.reject(new Error('no')));
    const good = vi.fn(() => Promise.resolve(0));
    start({ work: bad }, undefined, 'bad');
    start({ work: good }, undefined, 'good');
    await eventually(() => {
      expect(bad.mock.calls.length).toBeGreaterThan(3);
      expect(good.mock.calls.length).toBeGreaterThan(3);
    });
  });

  it('that takes longer than its lease stays on its node', async () => {
    const leaseMs = scaled(1_000);
    let isOver = false;
    const first = vi.fn(async () => {
      await pause(4 * leaseMs);
      isOver = true;
      return 0;
    });
    start({ work: first, everyMs: 3_600_000 }, leaseMs);
    await eventually(() => expect(first).toHaveBeenCalledTimes(1));
    const second = vi.fn(() => Promise.resolve(0));
    start({ work: second, everyMs: 3_600_000 }, leaseMs);
    await eventually(() => expect(isOver).toBe(true));
    expect(second).not.toHaveBeenCalled();
  });

  it('of a dead node is claimed by another when its lease has ended', async () => {
    await storage.register(['task']);
    const [lease] = await storage.claim(['task'], 50);
    expect(lease).toBeDefined();
    const work = vi.fn(() => Promise.resolve(0));
    start({ work });
    await eventually(() => expect(work).toHaveBeenCalled());
    // The old lease has no effect any more.
    if (!lease) throw new Error('no lease');
    expect(await storage.renew([lease], 60_000)).toEqual(new Set());
    await storage.finish(lease, 3_600_000);
    const calls = work.mock.calls.length;
    await eventually(() => expect(work.mock.calls.length).toBeGreaterThan(calls));
  });

  it('that another node has taken over is aborted', async () => {
    const stopped = vi.fn();
    start(
      {
        async work(signal) {
          await untilAborted(signal);
          stopped();
          return 1;
        },
      },
      scaled(1_500),
    );
    await eventually(async () => expect(await count('lease_until is not null and lease_token > 0')).toBe(1));
    await database.script(
      `update periodic_tasks set lease_token = lease_token + 1, lease_until = now() + interval '1 hour'`,
    );
    await eventually(() => expect(stopped).toHaveBeenCalledTimes(1));
    expect(await count(`lease_until > now() + interval '1 minute'`)).toBe(1);
  });

  it('is released when its node stops, which waits for the task', async () => {
    let isOver = false;
    const node = start(
      {
        async work(signal) {
          await untilAborted(signal);
          await pause(20);
          isOver = true;
          return 1;
        },
        everyMs: 3_600_000,
      },
      60_000,
    );
    await eventually(async () => expect(await count('lease_until is not null')).toBe(1));
    await node[Symbol.asyncDispose]();
    expect(isOver).toBe(true);
    expect(await storage.claim(['task'], 1_000)).toHaveLength(1);
  });
});

const count = async (condition: string): Promise<number> => {
  const text = `select count(*) as count from periodic_tasks where ${condition}`;
  const [row] = await database.query<{ count: number }>({ name: condition.slice(0, 60), text }, []);
  return row?.count ?? 0;
};
