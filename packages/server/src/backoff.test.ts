import { describe, expect, it } from 'vitest';
import { settledWithin } from './backoff.ts';

const never = new Promise<void>(() => undefined);
const minute = 60_000;

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
