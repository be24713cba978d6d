// The tree of agent.getTree: the root graph and the subgraphs that have checkpoints.
import type { SubgraphRow } from '../../storage/deployment/checkpoints/subgraphs.ts';

export interface GraphNode {
  namespace: string[];
  status: string;
  graph_name: string;
  children?: GraphNode[];
  metadata?: { run_id: string };
}

const runStatuses = {
  pending: 'started',
  running: 'running',
  success: 'completed',
  error: 'failed',
  timeout: 'failed',
  interrupted: 'interrupted',
} as const;

/** The status of a run, as the protocol names it. */
export const statusOfRun = (status: keyof typeof runStatuses): string => runStatuses[status];

/** A subgraph without remaining tasks has completed. Otherwise it has the status of its run; it is interrupted if the run succeeded or was deleted. */
const statusOf = ({ has_tasks, run_status }: SubgraphRow): string => {
  if (!has_tasks) return 'completed';
  const status = run_status === null ? 'interrupted' : statusOfRun(run_status);
  return status === 'completed' ? 'interrupted' : status;
};

/** Adds the subgraphs to the root. If the parent of a subgraph has no checkpoints, the nearest ancestor with checkpoints becomes its parent. */
export const graphTree = (root: GraphNode, subgraphs: readonly SubgraphRow[]): GraphNode => {
  const nodes = new Map([['', root]]);
  for (const row of subgraphs) {
    const namespace = row.checkpoint_ns.split('|');
    nodes.set(row.checkpoint_ns, {
      namespace,
      status: statusOf(row),
      graph_name: nameOf(namespace),
      ...(row.run_id === null ? {} : { metadata: { run_id: row.run_id } }),
    });
  }
  for (const [name, node] of nodes) {
    if (node === root) continue;
    const parent = parentOf(name, nodes);
    (parent.children ??= []).push(node);
  }
  return root;
};

const parentOf = (name: string, nodes: ReadonlyMap<string, GraphNode>): GraphNode => {
  const end = name.lastIndexOf('|');
  const above = end < 0 ? '' : name.slice(0, end);
  const parent = nodes.get(above);
  return parent ?? parentOf(above, nodes);
};

/** The name of the node that executes the subgraph. A segment of a namespace is `node:task`, or a number for another subgraph of the same task. */
const nameOf = (namespace: readonly string[]): string => {
  const segment = namespace.findLast((one) => one.includes(':')) ?? namespace.at(-1) ?? '';
  return segment.split(':', 1)[0] ?? '';
};
