// A graph with the nodes that run now lit. Loaded on demand, because React Flow is large.
import {
  BaseEdge,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  getBezierPath,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { NodeActivity } from '../messages/fold-run.ts';
import { duration } from '../ui/duration.ts';
import { Skeleton } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { type Positions, simpleLayout } from './layout.ts';
import { type Graph, type GraphNode, sizeOf } from './read-graph.ts';
import './graph.css';

type FlowNode = Node<{ node: GraphNode; activity: NodeActivity | undefined }, 'graph'>;
type Size = ReturnType<typeof sizeOf>;
type FlowEdge = Edge<{ label: string | undefined; source: Size; target: Size }, 'graph'>;

const NodeBox = ({ data: { node, activity } }: NodeProps<FlowNode>): ReactNode => (
  <>
    <Handle type="target" position={Position.Top} isConnectable={false} />
    <div
      // Another visit lights the node again.
      key={activity?.visits}
      className="graph-node"
      data-kind={node.kind}
      data-activity={activity?.state ?? 'none'}
      style={sizeOf(node)}
      title={node.id}
    >
      <span className="graph-node-label">{visibleText(node.label)}</span>
      {node.tools.length > 0 && (
        <span className="graph-node-tools">{visibleText(node.tools.join(', '))}</span>
      )}
      {activity && (
        <span className="graph-node-activity">
          {activity.visits > 1 && `×${activity.visits} `}
          {activityText(activity)}
        </span>
      )}
    </div>
    <Handle type="source" position={Position.Bottom} isConnectable={false} />
  </>
);

/**
 * The size and the ends of edges, which React Flow would measure otherwise. It measures nodes again whenever they are replaced without
 * these, as with each event of a run, and draws no edges until then.
 */
const measuresOf = (node: GraphNode): Pick<FlowNode, 'width' | 'height' | 'measured' | 'handles'> => {
  const { width, height } = sizeOf(node);
  const end = { x: width / 2, width: 0, height: 0 };
  return {
    width,
    height,
    measured: { width, height },
    handles: [
      { ...end, type: 'target', position: Position.Top, y: 0 },
      { ...end, type: 'source', position: Position.Bottom, y: height },
    ],
  };
};

/** An edge to an earlier node leaves and arrives at the right side, around the nodes between. */
const pathAround = ({ sourceX, sourceY, targetX, targetY, data }: EdgeProps<FlowEdge>): string => {
  const none = { width: 0, height: 0 };
  const { source = none, target = none } = data ?? {};
  const from = { x: sourceX + source.width / 2, y: sourceY - source.height / 2 };
  const to = { x: targetX + target.width / 2, y: targetY + target.height / 2 };
  const side = Math.max(from.x, to.x) + 50;
  return `M ${from.x},${from.y} C ${side},${from.y} ${side},${to.y} ${to.x + 3},${to.y}`;
};

const GraphEdgeLine = (edge: EdgeProps<FlowEdge>): ReactNode => {
  const [straight, x, y] = getBezierPath(edge);
  const { label } = edge.data ?? {};
  return (
    <>
      <BaseEdge
        path={edge.targetY < edge.sourceY ? pathAround(edge) : straight}
        {...(edge.markerEnd === undefined ? {} : { markerEnd: edge.markerEnd })}
        {...(edge.style === undefined ? {} : { style: edge.style })}
      />
      {label !== undefined && (
        <EdgeLabelRenderer>
          <span
            className="graph-edge-label"
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {visibleText(label)}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
};

const fit = { padding: 0.15, maxZoom: 1 };

const nodeTypes = { graph: NodeBox };
const edgeTypes = { graph: GraphEdgeLine };

const flowEdges = ({ nodes, edges }: Graph): FlowEdge[] => {
  const sizes = new Map(nodes.map((node) => [node.id, sizeOf(node)]));
  return edges.flatMap(({ source, target, isConditional, label }, index) => {
    const from = sizes.get(source);
    const to = sizes.get(target);
    if (!from || !to) return []; // an edge to a node that is not drawn
    return {
      id: String(index),
      type: 'graph',
      source,
      target,
      data: { label, source: from, target: to },
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14 },
      className: isConditional ? 'graph-edge-conditional' : 'graph-edge',
    } as const;
  });
};

export const GraphView = ({
  graph,
  activity,
}: {
  graph: Graph;
  activity: ReadonlyMap<string, NodeActivity>;
}): ReactNode => {
  const layout = useLayout(graph);
  const box = useRef<HTMLDivElement>(null);
  const [flow, setFlow] = useState<ReactFlowInstance<FlowNode, FlowEdge>>();
  // A graph in a hidden tab has no size, and the size changes with the window.
  useEffect(() => {
    if (!flow || !box.current) return undefined;
    const observer = new ResizeObserver(() => void flow.fitView(fit));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [flow]);
  const edges = useMemo(() => flowEdges(graph), [graph]);
  if (!layout) return <Skeleton rows={4} />;
  const nodes = graph.nodes.map((node): FlowNode => ({
    id: node.id,
    type: 'graph',
    position: layout.positions[node.id] ?? { x: 0, y: 0 },
    data: { node, activity: activity.get(node.id) },
    ...measuresOf(node),
  }));
  return (
    <div className="graph" ref={box}>
      <ReactFlow
        onInit={setFlow}
        aria-label="Graph of the assistant"
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        proOptions={{ hideAttribution: true }}
        minZoom={0.1}
        maxZoom={1.5}
        fitView
        fitViewOptions={fit}
      />
      {layout.isSimple && (
        <p className="graph-note muted" role="status">
          The graph is too large to arrange its edges: layers by the distance from the start.
        </p>
      )}
    </div>
  );
};

const signs: Record<NodeActivity['state'], string> = {
  running: '…',
  interrupted: '‖',
  error: '✗',
  done: '✓',
};

/** What the box of a node says of its last visit. Events that arrive together say nothing of the time between them. */
export const activityText = ({ state, tookMs = 0 }: Pick<NodeActivity, 'state' | 'tookMs'>): string => {
  const time = state === 'running' || state === 'interrupted' || tookMs < 1 ? undefined : duration(tookMs);
  return state === 'done'
    ? (time ?? signs.done)
    : [signs[state], time].filter((text) => text !== undefined).join(' ');
};

const limitMs = 5_000;

interface Layout {
  positions: Positions;
  /** The worker has taken too long. */
  isSimple: boolean;
}

/** The positions of a graph's nodes, once the worker has computed them. */
const useLayout = (graph: Graph): Layout | undefined => {
  const [laidOut, setLaidOut] = useState<Layout & { graph: Graph }>();
  useEffect(() => {
    const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    const finish = (layout: Layout): void => {
      clearTimeout(timer);
      worker.terminate();
      setLaidOut({ graph, ...layout });
    };
    const fallBack = (): void => finish({ positions: simpleLayout(graph), isSimple: true });
    const timer = setTimeout(fallBack, limitMs);
    worker.addEventListener('message', ({ data }: MessageEvent<Positions>) =>
      finish({ positions: data, isSimple: false }),
    );
    worker.addEventListener('error', fallBack);
    worker.postMessage(graph);
    return () => {
      clearTimeout(timer);
      worker.terminate();
    };
  }, [graph]);
  return laidOut?.graph === graph ? laidOut : undefined;
};
