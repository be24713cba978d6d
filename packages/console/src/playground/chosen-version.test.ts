import { expect, it } from 'vitest';
import { keptFrom } from './chosen-version.tsx';

it('names what a run of an earlier version gets from the current one', () => {
  const current = { config: { configurable: { style: 'terse', depth: 2 } }, context: { tone: 'warm' } };
  expect(keptFrom(current, { config: { configurable: { style: 'plain' } }, context: {} })).toEqual([
    'configurable.depth',
    'context.tone',
  ]);
  expect(keptFrom(current, current)).toEqual([]);
});
