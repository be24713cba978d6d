// Gets the summary of a checkpoint from the engine, when the engine did not report it while it ran.
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { Problem } from '@svc/contract/problem';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints.ts';
import type { CheckpointSummary } from '../checkpoints/checkpoint-summary.ts';
import { SvcCheckpointer } from '../checkpoints/checkpointer.ts';
import type { ThreadSession } from '../checkpoints/thread-session.ts';
import type { Graph } from './graph-registry.ts';

/** `checkpoint_ns` is the namespace of the checkpoint: empty for the graph itself, otherwise that of a subgraph. */
export const describeByState = async (
  graph: Graph,
  session: ThreadSession,
  put: { checkpoint_id: string; checkpoint_ns?: string },
  checkpoints: CheckpointStorage,
): Promise<void> => {
  const { checkpoint_ns = '', checkpoint_id } = put;
  const key = { thread_id: session.thread_id, checkpoint_ns, checkpoint_id };
  session.describe(
    checkpoint_ns,
    checkpoint_id,
    await summaryOfState(graph, key, new SvcCheckpointer(session, checkpoints)),
  );
};

/** The summary of a checkpoint of the checkpointer, as the engine derives it from the graph. */
export const summaryOfState = async (
  graph: Graph,
  key: { thread_id: string; checkpoint_ns: string; checkpoint_id: string },
  checkpointer: BaseCheckpointSaver,
): Promise<CheckpointSummary> => {
  const described = await graphOf(graph, key.checkpoint_ns);
  const state = await described.getState({
    configurable: { ...key, __pregel_checkpointer: checkpointer },
  });
  return {
    keys: described.streamChannelsAsIs as string | string[],
    tasks: state.tasks.map(({ id, name, path, state: inner }) => {
      const ns = (inner as { configurable?: { checkpoint_ns?: string } } | undefined)?.configurable
        ?.checkpoint_ns;
      return { id, name, path: path ?? [], ...(ns === undefined ? {} : { ns }) };
    }),
  };
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
