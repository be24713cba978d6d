import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../test/eventually.ts';
import { NotificationBus } from './notification-bus.ts';
import { WorkerLoop, type WorkerLoopOptions } from './worker-loop.ts';

const loops: WorkerLoop[] = [];
afterEach(async () => {
  for (const loop of loops.splice(0)) await loop.stop();
  vi.useRealTimers();
});

const never = 3_600_000;
const open = (options: Partial<WorkerLoopOptions> & Pick<WorkerLoopOptions, 'claim'>): WorkerLoop => {
  const loop = new WorkerLoop({
    task: 'claim jobs',
    pollMs: never,
    logger: pino({ level: 'silent' }),
    ...options,
  });
  loops.push(loop);
  return loop;
};

/** A bus whose connection is lost and comes back when `reconnect` is called. */
const openBus = async () => {
  let notify: (text: string) => void = () => undefined;
  let reconnect = (): void => undefined;
  const bus = new NotificationBus();
  await bus.open({
    listen(_channel, onNotify, onReconnect = () => undefined) {
      [notify, reconnect] = [onNotify, onReconnect];
      return Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() });
    },
  });
  return { bus, notify: (text: string) => notify(text), reconnect: () => reconnect() };
};

describe('a worker loop', () => {
  it('claims when it is notified, when it may have missed a notification, and when a poll is due', async () => {
    const { bus, notify, reconnect } = await openBus();
    const claim = vi.fn(() => Promise.resolve(false));
    open({ claim, notifications: { bus, kind: 'p' } });
    notify('e:1');
    expect(claim).not.toHaveBeenCalled();
    notify('p');
    await eventually(() => expect(claim).toHaveBeenCalledTimes(1));
    reconnect();
    await eventually(() => expect(claim).toHaveBeenCalledTimes(2));
    open({ claim, pollMs: 1 });
    await eventually(() => expect(claim.mock.calls.length).toBeGreaterThan(4));
  });

  it('claims until nothing is left', async () => {
    const left = [true, true, false];
    const claim = vi.fn(() => Promise.resolve(left.shift() ?? false));
    open({ claim }).wake();
    await eventually(() => expect(left).toEqual([]));
    expect(claim).toHaveBeenCalledTimes(3);
  });

  it('claims once more when it is woken during a claim', async () => {
    const answers: (() => void)[] = [];
    const claim = vi.fn(() => new Promise<boolean>((resolve) => answers.push(() => resolve(false))));
    const loop = open({ claim });
    loop.wake();
    loop.wake();
    loop.wake();
    expect(claim).toHaveBeenCalledTimes(1);
    answers.shift()?.();
    await eventually(() => expect(claim).toHaveBeenCalledTimes(2));
    answers.shift()?.();
    await loop.stop();
    expect(claim).toHaveBeenCalledTimes(2);
  });

  it('claims no more than its free slots, and a freed slot wakes it only when it was full', async () => {
    let running = 0;
    const claimed: number[] = [];
    const claim = (free: number): Promise<boolean> => {
      claimed.push(free);
      running += free;
      return Promise.resolve(true);
    };
    const loop = open({ claim, freeSlots: () => 3 - running, running: () => running });
    loop.slotFreed();
    expect(claimed).toEqual([]);
    loop.wake();
    await eventually(() => expect(claimed).toEqual([3]));
    running -= 2;
    loop.slotFreed();
    await eventually(() => expect(claimed).toEqual([3, 2]));
  });

  it('pauses after an error, longer each time, and a reconnection ends the pause', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    const { bus, notify, reconnect } = await openBus();
    const claim = vi.fn(() => Promise.reject(new Error('away')));
    open({ claim, notifications: { bus, kind: 'p' } });
    const claimsAfter = async (ms: number, act: () => void = () => undefined): Promise<number> => {
      act();
      await vi.advanceTimersByTimeAsync(ms);
      return claim.mock.calls.length;
    };
    expect(await claimsAfter(0, () => notify('p'))).toBe(1);
    expect(await claimsAfter(20, () => notify('p'))).toBe(1);
    expect(await claimsAfter(30)).toBe(2);
    expect(await claimsAfter(24)).toBe(2);
    expect(await claimsAfter(0, reconnect)).toBe(3);
    expect(await claimsAfter(200)).toBe(4);
  });

  it('drains: claims no more, and waits for its jobs until `hurry` is aborted or the time is over', async () => {
    let running = 1;
    const claim = vi.fn(() => Promise.resolve(false));
    const loop = open({ claim, running: () => running });
    const hurry = new AbortController();
    const drains = [loop.drain(never, hurry.signal), loop.drain(1)];
    loop.wake();
    await drains[1];
    hurry.abort();
    await drains[0];
    const quiet = loop.drain();
    running = 0;
    loop.slotFreed();
    await quiet;
    expect(claim).not.toHaveBeenCalled();
  });
});
