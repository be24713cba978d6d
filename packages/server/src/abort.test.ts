import { describe, expect, it } from 'vitest';
import { onAbort, unlessAborted, untilAborted } from './abort.ts';

describe('onAbort', () => {
  it('runs at once when the signal is already aborted', () => {
    let acts = 0;
    onAbort(AbortSignal.abort(), () => acts++);
    expect(acts).toBe(1);
  });

  it('runs once when the signal is aborted later, and not after its listener was removed', () => {
    const controller = new AbortController();
    const acts: string[] = [];
    onAbort(controller.signal, () => acts.push('kept'));
    const remove = onAbort(controller.signal, () => acts.push('removed'));
    remove();
    controller.abort();
    expect(acts).toEqual(['kept']);
  });

  it('resolves a wait for a signal that is already aborted', async () => {
    await expect(untilAborted(AbortSignal.abort())).resolves.toBeUndefined();
  });
});

describe('unlessAborted', () => {
  it('returns the result of the work', async () => {
    await expect(unlessAborted(Promise.resolve(1), undefined)).resolves.toBe(1);
    await expect(unlessAborted(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
  });

  it('rejects with the reason of an abort while the work goes on', async () => {
    const controller = new AbortController();
    const waiting = unlessAborted(new Promise(() => undefined), controller.signal);
    controller.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});
