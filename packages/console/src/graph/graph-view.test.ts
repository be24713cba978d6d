import { expect, it } from 'vitest';
import { activityText } from './graph-view.tsx';

it.each([
  ['done', undefined, '✓'],
  ['done', 1_500, '1.5 s'],
  ['error', undefined, '✗'],
  ['error', 1_500, '✗ 1.5 s'],
  ['interrupted', 1_500, '‖'],
  ['running', undefined, '…'],
] as const)('a node that is %s after %s ms says %s', (state, tookMs, text) => {
  expect(activityText({ state, tookMs })).toBe(text);
});
