// Gets the summary of a checkpoint from the engine, when the engine did not report it while it ran.
import { Problem } from '@svc/contract/problem';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints.ts';
import { SvcCheckpointer } from '../checkpoints/checkpointer.ts';
import type { ThreadSession } from '../checkpoints/thread-session.ts';
import type { Graph } from './graph-registry.ts';

/** `checkpoint_ns` is the namespace of the checkpoint: empty for the graph itself, otherwise that of a subgraph. */
export const describeByState = async (
  graph: Graph,
  session: ThreadSession,
  put: { step: number; checkpoint_id: string; checkpoint_ns?: string },
  checkpoints: CheckpointStorage,
): Promise<void> => {
  const { thread_id } = session;
  const { checkpoint_ns = '' } = put;
  const described = await graphOf(graph, checkpoint_ns);
  const state = await described.getState({
    configurable: {
      thread_id,
      checkpoint_ns,
      checkpoint_id: put.checkpoint_id,
      __pregel_checkpointer: new SvcCheckpointer(session, checkpoints),
    },
  });
  session.describe(checkpoint_ns, put.step, {
    keys: described.streamChannelsAsIs as string | string[],
    tasks: state.tasks.map(({ id, name, path, state: inner }) => {
      const ns = (inner as { configurable?: { checkpoint_ns?: string } } | undefined)?.configurable
        ?.checkpoint_ns;
      return { id, name, path: path ?? [], ...(ns === undefined ? {} : { ns }) };
    }),
  });
};

/** The subgraph whose checkpoints are in the namespace: `outer:<task>|inner:<task>`, with a number after parallel calls. */
const graphOf = async (graph: Graph, checkpoint_ns: string): Promise<Graph> => {
  if (checkpoint_ns === '') return graph;
  const name = checkpoint_ns
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0])
    .join('|');
  for await (const [found, subgraph] of graph.getSubgraphsAsync(name, true))
    if (found === name) return subgraph as Graph;
  throw new Problem('invalid', `There is no subgraph "${name}"`);
};
