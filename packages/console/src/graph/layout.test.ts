import { expect, it } from 'vitest';
import { layoutGraph, simpleLayout } from './layout.ts';
import { sizeOf, type Graph } from './read-graph.ts';

const graphOf = (ids: readonly string[], edges: readonly [string, string][]): Graph => ({
  nodes: ids.map((id) => ({ id, label: id, kind: 'node', tools: [] })),
  edges: edges.map(([source, target]) => ({ source, target, isConditional: false, label: undefined })),
});

it('the simple layout puts each node below its predecessors, also with a cycle and an isolated node', () => {
  const graph = graphOf(
    ['a', 'b', 'c', 'alone', 'x', 'y'],
    [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'b'],
      ['x', 'y'],
      ['y', 'x'],
    ],
  );
  const { a, b, c, alone, x, y } = simpleLayout(graph);
  expect(a?.y).toBeLessThan(b?.y ?? 0);
  expect(b?.y).toBeLessThan(c?.y ?? 0);
  expect([alone?.y, x?.y, y?.y]).toEqual([a?.y, a?.y, b?.y]);
});

it('the simple layout has every node of a graph with many edges, without an overlap', () => {
  const ids = Array.from({ length: 400 }, (_, index) => `node ${index}`);
  const graph = graphOf(
    ids,
    ids.flatMap((id, index) => ids.slice(index + 1, index + 40).map((to): [string, string] => [id, to])),
  );
  const positions = simpleLayout(graph);
  const boxes = graph.nodes.map((node) => ({ ...positions[node.id]!, ...sizeOf(node) }));
  const overlapping = boxes.filter((one, index) =>
    boxes.some(
      (other, at) =>
        at !== index &&
        Math.abs(one.x - other.x) < Math.min(one.width, other.width) &&
        Math.abs(one.y - other.y) < one.height,
    ),
  );
  expect(overlapping).toEqual([]);
});

it('both layouts have the same nodes', () => {
  const graph = graphOf(['a', 'b'], [['a', 'b']]);
  expect(Object.keys(simpleLayout(graph))).toEqual(Object.keys(layoutGraph(graph)));
});
