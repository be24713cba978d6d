import { describe, expect, it } from 'vitest';
import { RequestMemory } from './request-memory.ts';

const mb = 1_048_576;

describe('request memory', () => {
  it('is granted in the order of the requests', async () => {
    const memory = new RequestMemory({ bytesMax: 10 * mb });
    const order: string[] = [];
    const first = await memory.hold(8 * mb);
    const second = memory.hold(8 * mb).then((release) => {
      order.push('second');
      return release;
    });
    const third = memory.hold(2 * mb).then((release) => {
      order.push('third');
      return release;
    });
    expect(memory.used).toBe(8 * mb);
    first();
    first();
    const releases = await Promise.all([second, third]);
    expect(order).toEqual(['second', 'third']);
    expect(memory.used).toBe(10 * mb);
    for (const release of releases) release();
    expect(memory.used).toBe(0);
  });

  it('lets a small body pass larger ones that wait', async () => {
    const memory = new RequestMemory({ bytesMax: 10 * mb });
    const first = await memory.hold(8 * mb);
    const waiting = memory.hold(8 * mb);
    (await memory.hold(mb))();
    first();
    (await waiting)();
    expect(memory.used).toBe(0);
  });

  it('grants a body that exceeds all of it when there is no other', async () => {
    const memory = new RequestMemory({ bytesMax: mb });
    (await memory.hold(5 * mb))();
    expect(memory.used).toBe(0);
  });

  it('is denied after a timeout, and when too many wait', async () => {
    const memory = new RequestMemory({ bytesMax: mb, waitMs: 20, waitingMax: 1 });
    const release = await memory.hold(mb);
    const waiting = memory.hold(2 * mb);
    await expect(memory.hold(2 * mb)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
    release();
    (await memory.hold(2 * mb))();
    expect(memory.used).toBe(0);
  });
});
