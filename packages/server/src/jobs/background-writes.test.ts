import { Problem } from '@svc/contract/problem';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { BackgroundWrites } from './background-writes.ts';

const away = new Problem('unavailable', 'The database cannot be reached');
/** Rejects so many times, then returns the number of the try. */
const failing =
  (times: number, error: Error) =>
  (tries: number): Promise<number> =>
    tries <= times ? Promise.reject(error) : Promise.resolve(tries);

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
