import { expect, it } from 'vitest';
import { LoopTurns } from './loop-turns.ts';

it('one piece of work is executed per turn of the event loop, in order', async () => {
  const turns = new LoopTurns();
  let turn = 0;
  let isCounting = true;
  const count = (): void => {
    turn++;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const done: [at: number, turn: number][] = [];
  await Promise.all(
    Array.from({ length: 5 }, async (_, at) => {
      await turns.next();
      done.push([at, turn]);
    }),
  );
  isCounting = false;
  expect(done.map(([at]) => at)).toEqual([0, 1, 2, 3, 4]);
  expect(new Set(done.map(([, when]) => when)).size).toBe(5);
  await turns.next();
});
