import { describe, expect, it } from 'vitest';
import { ancestorsOf, matchingRows, nextError, toSpanTable, visibleRows } from './span-table.ts';

const at = (second: number): string => new Date(second * 1_000).toISOString();

const node = (id: string, from: number, to: number | null, child_runs: unknown[] = []) => ({
  id,
  name: id,
  run_type: 'chain',
  status: to === null ? 'pending' : id.startsWith('bad') ? 'error' : 'success',
  start_time: at(from),
  end_time: to === null ? null : at(to),
  error: null,
  total_tokens: null,
  total_cost: null,
  child_runs,
});

const tree = {
  runs: [node('root', 10, 20, [node('a', 11, 12, [node('bad 1', 11, 12)]), node('bad 2', 13, null)])],
};
const table = toSpanTable(tree, 30_000);
const namesOf = (rows: readonly number[]) => rows.map((index) => table.spans[index]?.run.name);

describe('the spans of a trace', () => {
  it('have the tokens and the cost of all below them, where they have none of their own', () => {
    const model = (tokens: number) => ({
      ...node(`model ${tokens}`, 1, 2),
      total_tokens: tokens,
      total_cost: `0.${tokens}`,
    });
    const own = { ...node('own', 1, 2, [model(7)]), total_tokens: 8 };
    const runs = [node('root', 0, 3, [node('step', 1, 2, [model(2), model(3)]), own, node('tool', 1, 2)])];
    const { spans } = toSpanTable({ runs }, 0);
    const sums = spans.map(({ run, tokens, cost }) => [run.name, tokens, cost && Math.round(cost * 10)]);
    expect(sums).toEqual([
      ['root', 13, 12],
      ['step', 5, 5],
      ['model 2', 2, 2],
      ['model 3', 3, 3],
      ['own', 8, 7],
      ['model 7', 7, 7],
      ['tool', null, null],
    ]);
  });

  it('are rows in the order of the tree, with their depths', () => {
    expect(table.spans.map(({ run, depth, parent, end }) => [run.name, depth, parent, end])).toEqual([
      ['root', 0, -1, 4],
      ['a', 1, 0, 3],
      ['bad 1', 2, 1, 3],
      ['bad 2', 1, 0, 4],
    ]);
  });

  it('reach from the first start to now, while one is pending', () => {
    expect([table.startMs, table.endMs]).toEqual([10_000, 30_000]);
  });

  it('hide the descendants of closed ones', () => {
    expect(namesOf(visibleRows(table, new Set(['a'])))).toEqual(['root', 'a', 'bad 2']);
    expect(namesOf(visibleRows(table, new Set(['root'])))).toEqual(['root']);
  });

  it('are found by a text, with their ancestors', () => {
    const { rows, matches } = matchingRows(table, 'BAD 1');
    expect(namesOf(rows)).toEqual(['root', 'a', 'bad 1']);
    expect([...matches]).toEqual([2]);
    expect(ancestorsOf(table, 2)).toEqual(['a', 'root']);
  });

  it('are walked from error to error, in a circle', () => {
    const only = toSpanTable({ runs: [node('x', 1, 2, [node('bad', 1, 2)])] as never }, 0);
    expect(nextError(only, -1)).toBe(1);
    expect(nextError(only, 1)).toBe(1);
    expect(nextError(toSpanTable({ runs: [] }, 0), -1)).toBeUndefined();
  });

  it('may be 10,000 deep', () => {
    let deep = node('leaf', 1, 2);
    for (let level = 1; level < 10_000; level++) deep = node(`level ${level}`, 1, 2, [deep]);
    const { spans } = toSpanTable({ runs: [deep] }, 0);
    expect([spans.length, spans.at(-1)?.depth, spans[0]?.end]).toEqual([10_000, 9_999, 10_000]);
  });
});
