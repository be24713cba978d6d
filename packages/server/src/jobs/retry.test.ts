import { Problem } from '@svc/contract/problem';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { BackgroundWrites } from './background-writes.ts';
import { retryWhileUnavailable } from './retry.ts';

const away = new Problem('unavailable', 'The database cannot be reached');
const pauseMs = { first: 1, max: 2 };
/** Rejects so many times, then returns the number of the try. */
const failing =
  (times: number, error: Error = away) =>
  (tries: number): Promise<number> =>
    tries <= times ? Promise.reject(error) : Promise.resolve(tries);

describe('retryWhileUnavailable', () => {
  it('repeats the work until the database is back, and reports each failure', async () => {
    const onError = vi.fn();
    expect(await retryWhileUnavailable(failing(3), { pauseMs, onError })).toBe(4);
    expect(onError).toHaveBeenCalledTimes(3);
  });

  it('throws any other error at once, unless `when` repeats it', async () => {
    const bug = new Error('a bug');
    const work = vi.fn(failing(1, bug));
    await expect(retryWhileUnavailable(work, { pauseMs })).rejects.toBe(bug);
    expect(work).toHaveBeenCalledTimes(1);
    expect(await retryWhileUnavailable(failing(1, bug), { pauseMs, when: () => true })).toBe(2);
  });

  it('throws the last error when its time is over', async () => {
    await expect(retryWhileUnavailable(failing(Infinity), { pauseMs, forMs: 5 })).rejects.toBe(away);
  });

  it('tries once more when it is aborted during a pause', async () => {
    const stop = new AbortController();
    const work = vi.fn(failing(Infinity));
    const retried = retryWhileUnavailable(work, {
      pauseMs: { first: 3_600_000, max: 3_600_000 },
      signal: stop.signal,
      onError: () => setImmediate(() => stop.abort()),
    });
    await expect(retried).rejects.toBe(away);
    expect(work).toHaveBeenCalledTimes(2);
  });
});

describe('background writes', () => {
  it('are repeated whatever the error is, until they succeed', async () => {
    const error = vi.fn();
    const onFailure = vi.fn();
    const writes = new BackgroundWrites({ logger: { error }, message: 'failed to write', onFailure });
    let tries = 0;
    await writes.start(() => failing(1, new Error('deadlock'))(++tries), { id: 1 });
    expect(tries).toBe(2);
    expect(error.mock.calls).toEqual([[{ err: new Error('deadlock'), id: 1 }, 'failed to write, retrying']]);
    expect(onFailure.mock.calls).toEqual([['repeated']]);
    expect(writes.size).toBe(0);
  });

  it('are abandoned after their time, and reported', async () => {
    const error = vi.fn();
    const onFailure = vi.fn();
    const writes = new BackgroundWrites({
      logger: { error },
      message: 'failed to write',
      onFailure,
      forMs: 0,
    });
    await writes.start(() => Promise.reject(away), { id: 1 });
    expect(onFailure.mock.calls.at(-1)).toEqual(['abandoned']);
    expect(error.mock.calls.at(-1)).toEqual([
      { err: away, id: 1 },
      'failed to write, abandoned after the last try',
    ]);
    expect(writes.size).toBe(0);
  });

  it('have one more try when they are stopped', async () => {
    const write = vi.fn(() => Promise.reject(away));
    const writes = new BackgroundWrites({ logger: { error: vi.fn() }, message: 'failed to write' });
    void writes.start(write);
    await eventually(() => expect(write).toHaveBeenCalled());
    await writes[Symbol.asyncDispose]();
    const calls = write.mock.calls.length;
    await writes.start(write);
    expect(write).toHaveBeenCalledTimes(calls + 1);
  });
});
