import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ProcessPool, type PooledProcess } from './process-pool.ts';

/** A fake process that ends when the test ends it. */
class FakeProcess implements PooledProcess {
  readonly pid = 1;
  readonly ready: Promise<void>;
  becomeReady!: () => void;
  killReason: string | undefined;
  readonly stop = vi.fn(() => this.#ended);
  readonly #ended: Promise<void>;
  readonly #onEnd: (reason: string) => void;
  #resolve!: () => void;

  constructor(onEnd: (reason: string) => void) {
    this.#onEnd = onEnd;
    this.ready = new Promise((resolve) => (this.becomeReady = resolve));
    this.#ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  end(): void {
    this.#onEnd('signal SIGKILL');
    this.#resolve();
  }
}

const open = (options: { keep?: number; idleMs?: number } = {}) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const started: FakeProcess[] = [];
  const pool = new ProcessPool({
    name: 'worker',
    start: (onEnd) => {
      const process = new FakeProcess(onEnd);
      started.push(process);
      return process;
    },
    logger: pino({ level: 'silent' }),
    ...options,
  });
  return { pool, started };
};
afterEach(() => void vi.useRealTimers());

describe('a pool of processes', () => {
  it('replaces a process at once, and after a pause when its replacement was never ready', async () => {
    const { pool, started } = open({ keep: 1 });
    started[0]?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toHaveLength(2);
    started[1]?.end();
    await vi.advanceTimersByTimeAsync(40);
    expect(started).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(60);
    expect(started).toHaveLength(3);
    started[2]?.becomeReady();
    await vi.advanceTimersByTimeAsync(0);
    started[2]?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toHaveLength(4);
    expect(pool.crashes).toBe(3);
  });

  it('replaces a process that was killed, which is no crash', async () => {
    const { pool, started } = open({ keep: 1 });
    started[0]!.killReason = 'its run did not stop';
    started[0]?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect([pool.kills, pool.crashes, started.length]).toEqual([1, 0, 2]);
  });

  it('ends a process that has been idle for long, which is no crash', () => {
    const { pool, started } = open({ idleMs: 1_000 });
    const first = pool.start();
    pool.rest(first);
    expect(pool.takeIdle()).toBe(first);
    vi.advanceTimersByTime(1_000);
    expect(first.stop).not.toHaveBeenCalled();
    pool.rest(first);
    vi.advanceTimersByTime(1_000);
    expect(first.stop).toHaveBeenCalledTimes(1);
    expect(pool.takeIdle()).toBeUndefined();
    expect([pool.active.size, pool.size]).toEqual([0, 1]);
    first.end();
    expect([pool.size, pool.crashes, started.length]).toEqual([0, 0, 1]);
  });

  it('forgets an idle process that ends', () => {
    const { pool } = open({ idleMs: 1_000 });
    const first = pool.start();
    pool.rest(first);
    first.end();
    expect(pool.takeIdle()).toBeUndefined();
    expect([pool.active.size, pool.idle, pool.crashes]).toEqual([0, 0, 0]);
  });

  it('ends all processes when it is disposed, and replaces none', async () => {
    const { pool, started } = open({ keep: 2 });
    const disposed = pool[Symbol.asyncDispose]();
    for (const process of started) process.end();
    await disposed;
    await vi.advanceTimersByTimeAsync(60_000);
    expect([started.length, pool.crashes]).toEqual([2, 0]);
  });
});
