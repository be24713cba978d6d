import dagre from '@dagrejs/dagre';
import { sizeOf, type Graph } from './read-graph.ts';

/** The upper left corner of each node. */
export type Positions = Record<string, { x: number; y: number }>;

/** Layers from top to bottom. */
export const layoutGraph = ({ nodes, edges }: Graph): Positions => {
  const layers = new dagre.graphlib.Graph({ multigraph: true });
  layers.setGraph({ rankdir: 'TB', nodesep: 40, ranksep: 52 });
  layers.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) layers.setNode(node.id, { ...sizeOf(node) });
  edges.forEach(({ source, target }, index) => layers.setEdge(source, target, {}, String(index)));
  dagre.layout(layers);
  return Object.fromEntries(
    nodes.map((node) => {
      const { x, y } = layers.node(node.id) as { x: number; y: number };
      const { width, height } = sizeOf(node);
      return [node.id, { x: x - width / 2, y: y - height / 2 }];
    }),
  );
};

/** The number of edges from the start to each node, by the shortest way; nodes that no edge leads to are in the first layer. */
const depthsOf = ({ nodes, edges }: Graph): Map<string, number> => {
  const targets = new Map<string, string[]>(nodes.map(({ id }) => [id, []]));
  const isTarget = new Set<string>();
  for (const { source, target } of edges)
    if (source !== target && targets.has(target)) {
      targets.get(source)?.push(target);
      isTarget.add(target);
    }
  const depths = new Map<string, number>();
  // Cycles that no first node leads to are entered at their first node.
  for (const group of [nodes.filter(({ id }) => !isTarget.has(id)), ...nodes.map((node) => [node])]) {
    const waiting = group.filter(({ id }) => !depths.has(id)).map(({ id }) => id);
    for (const id of waiting) depths.set(id, 0);
    for (const id of waiting)
      for (const target of targets.get(id) ?? [])
        if (!depths.has(target)) {
          depths.set(target, (depths.get(id) ?? 0) + 1);
          waiting.push(target);
        }
  }
  return depths;
};

const rowMax = 24;
const gap = { x: 40, y: 52 };

/**
 * Arranges a graph in layers, by the distance from the start. Takes linear time: it replaces the other layout when that takes too long. Edges
 * may cross. A layer of many nodes has several rows.
 */
export const simpleLayout = (graph: Graph): Positions => {
  const layers: Graph['nodes'][] = [];
  const depths = depthsOf(graph);
  for (const node of graph.nodes) (layers[depths.get(node.id) ?? 0] ??= []).push(node);
  const positions: Positions = {};
  let y = 0;
  for (const layer of layers)
    for (let from = 0; from < layer.length; from += rowMax) {
      const row = layer.slice(from, from + rowMax).map((node) => ({ id: node.id, ...sizeOf(node) }));
      let x = -row.reduce((sum, { width }) => sum + width + gap.x, -gap.x) / 2;
      for (const { id, width } of row) {
        positions[id] = { x, y };
        x += width + gap.x;
      }
      y += Math.max(...row.map(({ height }) => height)) + gap.y;
    }
  return positions;
};
