import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairSpans } from './span-pairs.ts';
import { toSpanTable, type SpanTable } from './span-table.ts';

interface Tree {
  name: string;
  children?: Tree[];
}

const runOf = ({ name, children = [] }: Tree): object => ({
  id: `${name} ${Math.random()}`,
  name,
  run_type: 'chain',
  status: 'success',
  start_time: '2026-01-01T00:00:00Z',
  end_time: '2026-01-01T00:00:01Z',
  error: null,
  total_tokens: null,
  total_cost: null,
  child_runs: children.map(runOf),
});

const table = (...trees: Tree[]): SpanTable =>
  toSpanTable({ runs: trees.map(runOf) } as unknown as Parameters<typeof toSpanTable>[0], 0);

const named = (left: SpanTable, right: SpanTable): string[] =>
  pairSpans(left, right).map(({ left: a, right: b, depth }) => {
    const nameOf = (spans: SpanTable, at: number | undefined) =>
      at === undefined ? '-' : (spans.spans[at]?.run.name ?? '?');
    return `${'  '.repeat(depth)}${nameOf(left, a)} ${nameOf(right, b)}`;
  });

describe('two traces', () => {
  it('correspond by the names of their steps, and by the count of equal names', () => {
    const left = table({ name: 'agent', children: [{ name: 'model' }, { name: 'tool' }, { name: 'model' }] });
    const right = table({ name: 'agent', children: [{ name: 'model' }, { name: 'model' }] });
    expect(named(left, right)).toEqual(['agent agent', '  model model', '  tool -', '  model model']);
  });

  it('show a step that only one has where it happened', () => {
    const left = table({ name: 'agent', children: [{ name: 'plan' }, { name: 'answer' }] });
    const right = table({
      name: 'agent',
      children: [
        { name: 'guard' },
        { name: 'plan' },
        { name: 'search', children: [{ name: 'fetch' }] },
        { name: 'answer' },
      ],
    });
    expect(named(left, right)).toEqual([
      'agent agent',
      '  - guard',
      '  plan plan',
      '  - search',
      '    - fetch',
      '  answer answer',
    ]);
  });

  it('have nothing in common when their roots differ', () => {
    expect(named(table({ name: 'a' }), table({ name: 'b' }))).toEqual(['- b', 'a -']);
  });

  const treeOf: fc.Memo<Tree> = fc.memo((depth) => {
    const name = fc.constantFrom('a', 'b', 'c');
    const children = depth <= 1 ? fc.constant<Tree[]>([]) : fc.array(treeOf(), { maxLength: 4 });
    return fc.record({ name, children });
  });
  const tree = treeOf(4);

  it('lose no span and show none twice', () => {
    fc.assert(
      fc.property(fc.array(tree, { maxLength: 3 }), fc.array(tree, { maxLength: 3 }), (first, second) => {
        const [left, right] = [table(...first), table(...second)];
        const pairs = pairSpans(left, right);
        const sides = [
          [left, pairs.flatMap((pair) => pair.left ?? [])],
          [right, pairs.flatMap((pair) => pair.right ?? [])],
        ] as const;
        for (const [{ spans }, shown] of sides)
          expect(shown.toSorted((a, b) => a - b)).toEqual([...spans.keys()]);
        for (const [at, { left: a, right: b }] of pairs.entries())
          if (a !== undefined && b !== undefined)
            expect([left.spans[a]?.run.name, pairs[at]?.depth]).toEqual([
              right.spans[b]?.run.name,
              left.spans[a]?.depth,
            ]);
      }),
    );
  });
});
