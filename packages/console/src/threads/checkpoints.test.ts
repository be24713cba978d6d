import { expect, it } from 'vitest';
import { layLanes } from './checkpoints.tsx';

const steps = (...pairs: [string, string | null][]) =>
  pairs.map(([checkpoint_id, parent_checkpoint_id]) => ({ checkpoint_id, parent_checkpoint_id }));

it('checkpoints in a row have one lane', () => {
  expect(layLanes(steps(['c', 'b'], ['b', 'a'], ['a', null])).map(({ lane }) => lane)).toEqual([0, 0, 0]);
});

it('the newest path keeps lane 0, and an earlier branch joins it at their common parent', () => {
  const lanes = layLanes(steps(['e', 'd'], ['d', 'b'], ['c', 'b'], ['b', 'a'], ['a', null]));
  expect(lanes.map(({ lane }) => lane)).toEqual([0, 0, 1, 0, 0]);
  expect(lanes.map(({ joins }) => joins)).toEqual([[], [], [], [1], []]);
});

it('several roots, and a parent that is missing, have lanes', () => {
  expect(layLanes(steps(['d', 'missing'], ['c', null], ['b', null])).map(({ lane }) => lane)).toEqual([
    0, 1, 1,
  ]);
});
