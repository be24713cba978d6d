import { describe, expect, it } from 'vitest';
import { Turns } from './store-index.ts';

const held = () => {
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => (end = resolve));
  return { done, end: () => end() };
};

describe('turns', () => {
  it('begin in the order in which they were requested, after earlier ones', async () => {
    const turns = new Turns(1, 10_000);
    const first = held();
    const begun: string[] = [];
    const all = ['a', 'b', 'c'].map((name, at) =>
      turns.take(async () => {
        begun.push(name);
        if (at === 0) await first.done;
      }),
    );
    expect(begun).toEqual([]);
    await Promise.resolve();
    expect(begun).toEqual(['a']);
    first.end();
    await Promise.all(all);
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('continue after one that fails', async () => {
    const turns = new Turns(1, 10_000);
    await expect(turns.take(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await turns.take(() => Promise.resolve(1))).toBe(1);
  });

  it('that do not come in time are refused, and the next one still comes', async () => {
    const turns = new Turns(1, 10);
    const first = held();
    const running = turns.take(() => first.done);
    await expect(turns.take(() => Promise.resolve())).rejects.toMatchObject({ code: 'unavailable' });
    first.end();
    await running;
    expect(await turns.take(() => Promise.resolve(2))).toBe(2);
  });
});
