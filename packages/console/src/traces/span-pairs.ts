// Two traces side by side: which spans correspond. Two spans correspond when their parents do, and both are the n-th child with their name and
// type. So a step that one trace has and the other lacks does not move those after it.
import type { Span, SpanTable } from './span-table.ts';

/** Indices of spans; undefined where a trace has no such span. At least one is there. */
export interface SpanPair {
  left: number | undefined;
  right: number | undefined;
  depth: number;
}

interface Level {
  pairs: Pick<SpanPair, 'left' | 'right'>[];
  at: number;
}

/** Rows in the order of the left tree; what only the right one has follows its nearest sibling before it. */
export const pairSpans = (left: SpanTable, right: SpanTable): SpanPair[] => {
  const found: SpanPair[] = [];
  const open: Level[] = [
    { pairs: pairSiblings(left, children(left, -1), right, children(right, -1)), at: 0 },
  ];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const pair = level.pairs[level.at++];
    if (pair === undefined) {
      open.pop();
      continue;
    }
    found.push({ ...pair, depth: open.length - 1 });
    const below = pairSiblings(left, children(left, pair.left), right, children(right, pair.right));
    if (below.length > 0) open.push({ pairs: below, at: 0 });
  }
  return found;
};

/** Indices of the children of a span; of the roots for -1. */
const children = ({ spans }: SpanTable, parent: number | undefined): number[] => {
  if (parent === undefined) return [];
  const end = parent < 0 ? spans.length : (spans[parent]?.end ?? 0);
  const found: number[] = [];
  for (let at = parent + 1; at < end; at = spans[at]?.end ?? end) found.push(at);
  return found;
};

/** A name with its count among the siblings, such as `tool search 2`. */
const keysOf = ({ spans }: SpanTable, siblings: readonly number[]): string[] => {
  const counts = new Map<string, number>();
  return siblings.map((at) => {
    const { run } = spans[at] as Span;
    const name = `${run.run_type}\n${run.name}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name}\n${count}`;
  });
};

const pairSiblings = (
  leftTable: SpanTable,
  left: readonly number[],
  rightTable: SpanTable,
  right: readonly number[],
): Level['pairs'] => {
  const rightKeys = keysOf(rightTable, right);
  const placeOf = new Map(rightKeys.map((key, place) => [key, place]));
  const isPaired = new Set<number>();
  const leftPairs = keysOf(leftTable, left).map((key, at) => {
    const place = placeOf.get(key);
    if (place !== undefined) isPaired.add(place);
    return { left: left[at], place };
  });
  const onlyRight = (from: number): Level['pairs'] => {
    const pairs: Level['pairs'] = [];
    for (let place = from; place < right.length && !isPaired.has(place); place++)
      pairs.push({ left: undefined, right: right[place] });
    return pairs;
  };
  return [
    ...onlyRight(0),
    ...leftPairs.flatMap(({ left: index, place }) =>
      place === undefined
        ? [{ left: index, right: undefined }]
        : [{ left: index, right: right[place] }, ...onlyRight(place + 1)],
    ),
  ];
};
