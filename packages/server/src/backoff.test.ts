import { describe, expect, it, vi } from 'vitest';
import { retry, settledWithin, within } from './backoff.ts';

const never = new Promise<void>(() => undefined);
const minute = 60_000;

describe('a limit in time', () => {
  it('passes on what the promise resolves or rejects to', async () => {
    await expect(within(Promise.resolve(1), 60_000, () => 2)).resolves.toBe(1);
    await expect(within(Promise.reject(new Error('closed')), 60_000, () => 2)).rejects.toThrow('closed');
  });

  it('returns or throws its own result when the time is over', async () => {
    const never = new Promise(() => undefined);
    await expect(within(never, 1, () => 2)).resolves.toBe(2);
    const refuse = (): never => {
      throw new Error('late');
    };
    await expect(within(never, 1, refuse)).rejects.toThrow('late');
  });
});

describe('a wait for a promise', () => {
  it('ends when the promise is fulfilled', async () => {
    await expect(settledWithin(Promise.resolve(1), minute)).resolves.toBeUndefined();
  });

  it('ends with the error of the promise', async () => {
    await expect(settledWithin(Promise.reject(new Error('closed')), minute)).rejects.toThrow('closed');
  });

  it('ends after its time', async () => {
    await expect(settledWithin(never, 1)).resolves.toBeUndefined();
  });

  it('ends when its signal is aborted, before or during the wait', async () => {
    await expect(settledWithin(never, minute, AbortSignal.abort())).resolves.toBeUndefined();
    await expect(settledWithin(never, minute, AbortSignal.timeout(1))).resolves.toBeUndefined();
  });
});

const away = new Error('The database cannot be reached');
const pauseMs = { first: 1, max: 2 };
/** Rejects so many times, then returns the number of the try. */
const failing =
  (times: number, error: Error = away) =>
  (tries: number): Promise<number> =>
    tries <= times ? Promise.reject(error) : Promise.resolve(tries);

describe('retry', () => {
  const forMs = 3_600_000;

  it('repeats the work until it succeeds, and reports each failure', async () => {
    const onError = vi.fn();
    expect(await retry(failing(3), { pauseMs, forMs, onError })).toBe(4);
    expect(onError).toHaveBeenCalledTimes(3);
  });

  it('throws an error at once that `when` does not accept', async () => {
    const bug = new Error('a bug');
    const work = vi.fn(failing(1, bug));
    const onError = vi.fn();
    const when = (error: unknown) => error !== bug;
    await expect(retry(work, { pauseMs, forMs, when, onError })).rejects.toBe(bug);
    expect(work).toHaveBeenCalledTimes(1);
    expect(onError).not.toHaveBeenCalled();
  });

  it('throws the last error when its time is over', async () => {
    await expect(retry(failing(Infinity), { pauseMs, forMs: 5 })).rejects.toBe(away);
  });

  it('tries once more when it is aborted during a pause', async () => {
    const stop = new AbortController();
    const work = vi.fn(failing(Infinity));
    const retried = retry(work, {
      pauseMs: { first: 3_600_000, max: 3_600_000 },
      forMs,
      signal: stop.signal,
      onError: () => setImmediate(() => stop.abort()),
    });
    await expect(retried).rejects.toBe(away);
    expect(work).toHaveBeenCalledTimes(2);
  });
});
