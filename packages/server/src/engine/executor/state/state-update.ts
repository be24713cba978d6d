// A state update from outside a run: one or more supersteps of updates attributed to nodes.
import { Problem } from '@svc/contract/problem';
import { LeaseLost } from '../../checkpoints/commit-queue.ts';
import { SvcCheckpointer } from '../../checkpoints/checkpointer.ts';
import { ThreadSession } from '../../checkpoints/thread-session.ts';
import type { StateUpdate, UpdateStateCommand } from '../../dispatch/protocol.ts';
import { PythonGraph } from '../../python/python-graph.ts';
import type { EngineGraph, Graph } from '../graphs/graph-registry.ts';
import type { RunTools } from '../runs/run-tools.ts';
import { describeByState } from './state-summary.ts';
import { toInput } from '../runs/run-input.ts';

export interface UpdatedCheckpoint {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string;
}

/** Applies the supersteps in order, all in one transaction. Throws `conflict` when the thread is busy. */
export const updateState = async (
  command: UpdateStateCommand,
  tools: RunTools,
): Promise<UpdatedCheckpoint> => {
  const { thread_id, checkpoint } = command;
  const { checkpoint_ns = '' } = checkpoint;
  const session = openSession(command, tools);
  const saver = new SvcCheckpointer(session, tools.checkpoints);
  const shared = await tools.graphs.get(command.graph_id, command.config, 'threads.update');
  const apply = updater(shared, saver);
  let config: UpdateConfig = {
    ...command.config,
    configurable: {
      ...command.config.configurable,
      thread_id,
      checkpoint_ns,
    },
  };
  if (checkpoint.checkpoint_id)
    config.configurable = { ...config.configurable, checkpoint_id: checkpoint.checkpoint_id };
  try {
    for (const sent of command.supersteps) {
      const updates = sent.map(withValues);
      session.attribute(
        updates.map(({ as_node, values }) => ({ as_node: as_node ?? '', values: values ?? null })),
      );
      config = await apply(config, updates);
      for (const put of session.undescribed()) await describeByState(shared, session, put, tools.checkpoints);
    }
    const waits = session.nextTasks('').length > 0;
    await session.end({
      status: null,
      // An update that leaves nodes to run changes the status no more than one of a subgraph does: no run was interrupted by it.
      ending: checkpoint_ns === '' && !waits ? 'idle' : null,
      interrupts: session.interrupts(),
      error: null,
      values: null,
      told: false,
    });
  } catch (error) {
    if (error instanceof LeaseLost)
      throw new Problem('conflict', 'Thread is busy: a run is pending or running on it', {
        cause: error,
      });
    throw error;
  }
  const { checkpoint_ns: ns = '', checkpoint_id } = (config.configurable ?? {}) as Partial<UpdatedCheckpoint>;
  return { thread_id, checkpoint_ns: ns, checkpoint_id: session.storedIds.of(checkpoint_id ?? '') };
};

const openSession = (command: UpdateStateCommand, tools: RunTools): ThreadSession =>
  new ThreadSession({
    owner: { owner: command.update_id, thread_id: command.thread_id, removals: command.removals },
    thread_id: command.thread_id,
    blob_space: command.blob_space,
    head: undefined,
    run_id: null,
    metadata: command.metadata,
    sync: false,
    isAtomic: true,
    committer: tools.queue,
    codec: tools.codecOf(command.graph_id),
    recent: tools.recentBlobs,
    onFailure: () => undefined, // thrown by end()
  });

interface UpdateConfig {
  configurable?: Record<string, unknown>;
}

/** Applies one superstep. Returns the config of the new checkpoint. */
type ApplyUpdates = (config: UpdateConfig, updates: StateUpdate[]) => Promise<UpdateConfig>;

const updater = (graph: Graph, saver: SvcCheckpointer): ApplyUpdates => {
  if (graph instanceof PythonGraph) return (config, updates) => graph.update(config, updates, saver);
  const own = withCheckpointer(graph, saver);
  return (config, updates) => own.bulkUpdateState(config, [{ updates: updates.map(toEngineUpdate) }]);
};

/** A copy of the graph with this saver: the engine finds subgraphs by namespace only with a graph's own saver. */
const withCheckpointer = (graph: EngineGraph, checkpointer: SvcCheckpointer): EngineGraph => {
  const Copy = graph.constructor as new (fields: object) => EngineGraph;
  // oxlint-disable-next-line typescript/no-misused-spread -- how the engine itself copies a graph (withConfig)
  return new Copy({ ...graph, checkpointer });
};

const withValues = (update: StateUpdate): StateUpdate =>
  update.values_text === undefined
    ? update
    : { ...update, values: JSON.parse(update.values_text) as unknown };

interface EngineUpdate {
  values?: Record<string, unknown> | null;
  asNode?: string;
}

const toEngineUpdate = (update: StateUpdate): EngineUpdate => ({
  values: (update.command
    ? toInput({ command: update.command } as never)
    : (update.values ?? null)) as Record<string, unknown> | null,
  ...(update.as_node === undefined ? {} : { asNode: update.as_node }),
});
