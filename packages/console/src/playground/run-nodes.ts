// The nodes that a run without a stream has executed, from its timeline.
import type { RunTimeline } from '@svc/sdk';
import type { NodeActivity } from '../messages/fold-run.ts';

type Nodes = ReadonlyMap<string, NodeActivity>;
type Timeline = Pick<RunTimeline, 'status' | 'steps' | 'executing'>;

/** Nodes of the engine, which are no nodes of the graph. */
const isOfGraph = (name: string): boolean => !name.startsWith('__');

const visited = (
  nodes: Nodes,
  name: string,
  visit: Pick<NodeActivity, 'state' | 'tookMs'>,
): [string, NodeActivity] => [name, { ...visit, visits: (nodes.get(name)?.visits ?? 0) + 1, startedMs: 0 }];

/** How long a node took is known where it was alone in its step. */
export const nodesOfTimeline = ({ status, steps, executing }: Timeline): Nodes => {
  const nodes = new Map<string, NodeActivity>();
  for (const { source, nodes: names, from, to } of steps) {
    // A person wrote the update or the fork, and no node was executed.
    if (source === 'update' || source === 'fork') continue;
    const executed = names.filter(isOfGraph);
    const tookMs = executed.length === 1 ? Math.max(0, Date.parse(to) - Date.parse(from)) : undefined;
    for (const name of executed) nodes.set(...visited(nodes, name, { state: 'done', tookMs }));
  }
  const hasFailed = status === 'error' || status === 'timeout';
  for (const name of executing.filter(isOfGraph))
    nodes.set(...visited(nodes, name, { state: hasFailed ? 'error' : 'interrupted', tookMs: undefined }));
  return nodes;
};

/** Nodes that ask a question have not ended their step, so the timeline does not have it. */
export const withWaiting = (nodes: Nodes, waiting: readonly string[]): Nodes => {
  const all = new Map(nodes);
  for (const name of waiting)
    if (all.get(name)?.state !== 'interrupted')
      all.set(...visited(all, name, { state: 'interrupted', tookMs: undefined }));
  return all;
};
