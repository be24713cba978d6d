import { describe, expect, it } from 'vitest';
import { compareSteps, type Difference, type Json } from './compare.ts';
import { isScenario, matcherOf } from './differences/difference.ts';

const differencesOf = (here: Json, there: Json): readonly Difference[] =>
  compareSteps(new Map([['step', here]]), new Map([['step', there]]));

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(
  (letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000`,
) as [string, string, string, string];

describe('two responses', () => {
  it('may have other ids and times', () => {
    expect(
      differencesOf(
        { id: a, again: `node:${a}`, at: '2026-01-01T00:00:00Z', [a]: 1 },
        { id: b, again: `node:${b}`, at: '2026-01-02T00:00:00.123Z', [b]: 1 },
      ),
    ).toEqual([]);
  });

  it('may not confuse two ids', () => {
    expect(differencesOf([a, b, a], [c, d, d])).toEqual([{ path: 'step.2', here: a, there: d }]);
    expect(differencesOf([a, a], [c, d])).toHaveLength(1);
  });

  it('differ by values, members and types', () => {
    expect(differencesOf({ a: 1, b: null, d: '1' }, { a: 2, c: [], d: 1 })).toEqual([
      { path: 'step.a', here: 1, there: 2 },
      { path: 'step.b', here: null },
      { path: 'step.d', here: '1', there: 1 },
      { path: 'step.c', there: [] },
    ]);
  });

  it('differ by an additional event and not by all that follow', () => {
    const events = (...names: string[]): Json =>
      names.map((event, data) => ({ event, data: { [event]: data } }));
    expect(differencesOf(events('x', 'y', 'y'), events('x', 'z', 'y', 'y'))).toEqual([
      { path: 'step.z[0]', there: { z: 1 } },
      { path: 'step.y[0].y', here: 1, there: 2 },
      { path: 'step.y[1].y', here: 2, there: 3 },
    ]);
  });
});

describe('a pattern of listed differences', () => {
  it.each<[string, Difference, boolean]>([
    ['+ **.name = null', { path: 'a.b.name', here: null }, true],
    ['+ **.name = null', { path: 'a.b.name', here: 'x' }, false],
    ['+ **.name', { path: 'a.name', there: null }, false],
    ['- *.name', { path: 'a.name', there: null }, true],
    ['- *.name', { path: 'a.b.name', there: null }, false],
    ['~ a', { path: 'a', here: 1, there: 2 }, true],
    ['> a', { path: 'a', here: 'not found: x', there: 'not found' }, true],
    ['> a', { path: 'a', here: 'found', there: 'not found' }, false],
    ['* a[0]|b', { path: 'a[0]|b', here: 1 }, true],
  ])('%s for %j: %s', (pattern, difference, isMatch) => {
    expect(matcherOf(pattern)(difference)).toBe(isMatch);
  });

  it('is for one scenario, or for those whose names match', () => {
    expect(isScenario('streams of *', 'streams of chat')).toBe(true);
    expect(isScenario('state', 'state of subgraphs')).toBe(false);
  });
});
