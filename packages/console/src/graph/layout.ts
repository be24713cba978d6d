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

/** Rows of nodes in their order, for a graph whose layout takes too long. */
export const gridLayout = ({ nodes }: Graph): Positions => {
  const columns = Math.ceil(Math.sqrt(nodes.length));
  return Object.fromEntries(
    nodes.map(({ id }, index) => [id, { x: (index % columns) * 280, y: Math.floor(index / columns) * 100 }]),
  );
};
