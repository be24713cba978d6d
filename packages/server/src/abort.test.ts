import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../test/collect-garbage.ts';
import { onAbort, timeLimit, unlessAborted, untilAborted } from './abort.ts';

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

describe('a limit of time', () => {
  it('ends even after a garbage collection', async () => {
    const ended = untilAborted(timeLimit(100, new AbortController().signal).signal);
    await sleep(10);
    collectGarbage();
    await ended;
  });

  it('aborts with a TimeoutError, or with the reason of the other signal', async () => {
    const late = timeLimit(1);
    await untilAborted(late.signal);
    expect([late.isOver, (late.signal.reason as Error).name]).toEqual([true, 'TimeoutError']);
    const stopped = timeLimit(60_000, AbortSignal.abort(new Error('stopped')));
    expect([stopped.isOver, (stopped.signal.reason as Error).message]).toEqual([false, 'stopped']);
    stopped[Symbol.dispose]();
  });

  it('does not end after its work', async () => {
    const limit = timeLimit(1);
    limit[Symbol.dispose]();
    await sleep(20);
    expect(limit.isOver).toBe(false);
  });
});
