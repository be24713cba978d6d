// Gets the summary of a checkpoint from the engine, when the engine did not report it while it ran.
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { Problem } from '@svc/contract/problem';
import type { CheckpointStorage } from '../../../storage/deployment/checkpoints/checkpoints.ts';
import type { SummaryTask } from '../../checkpoints/checkpoint-summary.ts';
import type { CheckpointPlace, DescribedState, StateValues } from '../../checkpoints/checkpoint-records.ts';
import { SvcCheckpointer } from '../../checkpoints/checkpointer.ts';
import { subgraphPath } from '../../checkpoints/namespaces.ts';
import type { ThreadSession } from '../../checkpoints/thread-session.ts';
import type { CheckpointChunk } from '../events/chunk-events.ts';
import type { Graph } from '../graphs/graph-registry.ts';

export const describeByState = async (
  graph: Graph,
  session: ThreadSession,
  { checkpoint_ns, checkpoint_id }: CheckpointPlace,
  checkpoints: CheckpointStorage,
): Promise<void> => {
  const key = { thread_id: session.thread_id, checkpoint_ns, checkpoint_id };
  const state = await describedState(graph, key, new SvcCheckpointer(session, checkpoints));
  session.describe(checkpoint_ns, { checkpoint_id, ...state });
};

/** The values of a state by channel. `keys`: a text when the state is the value of one channel, or null when this has no value. */
export const stateValues = (keys: string | string[], values: unknown): StateValues => {
  if (typeof keys === 'string') return values === undefined || values === null ? {} : { [keys]: values };
  return typeof values === 'object' && values !== null ? (values as Record<string, unknown>) : {};
};

/** Tasks of a state, or of a report of the engine. `paths`: those of tasks that have none. The state of a task names the namespace of its subgraph, or is that of the subgraph. */
export const summaryTasks = (
  tasks: readonly { id: string; name: string; path?: unknown[]; state?: unknown }[],
  paths: readonly unknown[][] = [],
): SummaryTask[] =>
  tasks.map(({ id, name, path, state }, at) => {
    const { configurable } = (state ?? {}) as { configurable?: { checkpoint_ns?: string } };
    const ns = configurable?.checkpoint_ns;
    return { id, name, path: path ?? paths[at] ?? [], ...(ns === undefined ? {} : { ns }) };
  });

/** What the engine reports of a checkpoint. `deltas`: the values that the checkpoint may lack, because it has changes of them. */
export const reportOf = (
  graph: Graph,
  isRoot: boolean,
  chunk: CheckpointChunk,
): DescribedState & { checkpoint_id: string | undefined; deltas: StateValues } => {
  const keys = (isRoot ? graph.streamChannelsAsIs : Object.keys(chunk.values ?? {})) as string | string[];
  const values = stateValues(keys, chunk.values);
  // Values of untracked channels, which are not stored, are among those of the chunk.
  const ofDeltas = new Set(Object.keys(chunk.metadata.counters_since_delta_snapshot ?? {}));
  const deltas =
    ofDeltas.size === 0 ? [] : Object.entries(values).filter(([channel]) => ofDeltas.has(channel));
  return {
    checkpoint_id: chunk.config.configurable?.['checkpoint_id'] as string | undefined,
    step: chunk.metadata.step,
    summary: { keys, tasks: summaryTasks(chunk.tasks, chunk.paths) },
    values,
    deltas: Object.fromEntries(deltas),
  };
};

/** The summary and the values of a checkpoint of the checkpointer, as the engine derives them with the graph. */
export const describedState = async (
  graph: Graph,
  key: { thread_id: string; checkpoint_ns: string; checkpoint_id: string },
  checkpointer: BaseCheckpointSaver,
): Promise<DescribedState> => {
  const described = await subgraphOf(graph, key.checkpoint_ns);
  if (!described) throw new Problem('invalid', `There is no subgraph "${subgraphPath(key.checkpoint_ns)}"`);
  const state = await described.getState({
    configurable: { ...key, __pregel_checkpointer: checkpointer },
  });
  const keys = described.streamChannelsAsIs as string | string[];
  const { step } = (state.metadata ?? {}) as { step?: number };
  const summary = { keys, tasks: summaryTasks(state.tasks) };
  return { step, summary, values: stateValues(keys, state.values) };
};

/**
 * Records the states that the engine has not reported when a run ends: of checkpoints without tasks, of those that a command has changed, and of
 * supersteps that wait. `isUnapplied`: a superstep may have been applied in part before its checkpoint was put.
 */
export const recordStates = async (
  graph: Graph,
  session: ThreadSession,
  checkpoints: CheckpointStorage,
  isUnapplied: boolean,
): Promise<void> => {
  const { thread_id } = session;
  for (const put of [...session.undescribed(), ...(isUnapplied ? session.moved() : [])])
    if (await subgraphOf(graph, put.checkpoint_ns)) await describeByState(graph, session, put, checkpoints);
  for (const place of session.commanded()) {
    const saver = new SvcCheckpointer(session, checkpoints);
    const isHead = place.checkpoint_id === session.head(place.checkpoint_ns);
    const state = await describedState(graph, { thread_id, ...place }, saver).catch((error: unknown) => {
      // The engine cannot apply the writes that commands of several runs have left at an older checkpoint. The run did not use that state.
      if (isHead || !(error instanceof Error && error.name === 'InvalidUpdateError')) throw error;
      return undefined;
    });
    // A checkpoint that was deleted has no step.
    if (state?.step !== undefined) session.recordCommand(place, state);
  }
  await recordWaiting(graph, session, checkpoints);
};

const recordWaiting = async (
  graph: Graph,
  session: ThreadSession,
  checkpoints: CheckpointStorage,
): Promise<void> => {
  const waiting = session.waiting();
  if (waiting.length === 0) return;
  const __pregel_checkpointer = new SvcCheckpointer(session, checkpoints);
  const configurable = { thread_id: session.thread_id, checkpoint_ns: '', __pregel_checkpointer };
  const subgraphs = waiting.some(({ checkpoint_ns }) => checkpoint_ns !== '');
  const root = (await graph.getState({ configurable }, { subgraphs })) as StateOfTree;
  for (const state of statesIn(root)) {
    const { checkpoint_ns = '', checkpoint_id = '' } = state.config.configurable ?? {};
    const stored = session.storedIds.of(checkpoint_id);
    const place = waiting.find((one) => one.checkpoint_ns === checkpoint_ns && one.checkpoint_id === stored);
    const described = place && (await subgraphOf(graph, checkpoint_ns));
    if (!described) continue;
    const keys = described.streamChannelsAsIs as string | string[];
    session.recordWaiting(place, stateValues(keys, state.values), [...state.next]);
  }
};

/** A state of the engine, with the states of subgraphs that wait. */
interface StateOfTree {
  values: unknown;
  next: readonly string[];
  config: { configurable?: Partial<CheckpointPlace> };
  tasks: readonly { state?: unknown }[];
}

const statesIn = (state: StateOfTree): StateOfTree[] => [
  state,
  ...state.tasks.flatMap(({ state: inner }) =>
    typeof inner === 'object' && inner !== null && 'values' in inner ? statesIn(inner as StateOfTree) : [],
  ),
];

/** The subgraph whose checkpoints are in the namespace: `outer:<task>|inner:<task>`, with a number after parallel calls. */
const subgraphOf = async (graph: Graph, checkpoint_ns: string): Promise<Graph | undefined> => {
  if (checkpoint_ns === '') return graph;
  return findSubgraph(graph, subgraphPath(checkpoint_ns));
};

/** `path`: the names of the subgraphs on the way to it, `outer|inner`. */
export const findSubgraph = async (graph: Graph, path: string): Promise<Graph | undefined> => {
  for await (const [found, subgraph] of graph.getSubgraphsAsync(path, true))
    if (found === path) return subgraph as Graph;
  return undefined;
};
