// Gets the summary of a checkpoint from the engine, when the engine did not report it while it ran.
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { Problem } from '@svc/contract/problem';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints.ts';
import type { CheckpointSummary } from '../checkpoints/checkpoint-summary.ts';
import type { StateValues } from '../checkpoints/checkpoint-records.ts';
import { SvcCheckpointer } from '../checkpoints/checkpointer.ts';
import { subgraphPath } from '../checkpoints/namespaces.ts';
import type { ThreadSession } from '../checkpoints/thread-session.ts';
import type { Graph } from './graph-registry.ts';

interface CheckpointPlace {
  checkpoint_id: string;
  /** Empty for the graph itself, otherwise that of a subgraph. */
  checkpoint_ns?: string;
}

export const describeByState = async (
  graph: Graph,
  session: ThreadSession,
  put: CheckpointPlace,
  checkpoints: CheckpointStorage,
): Promise<void> => {
  const { checkpoint_ns = '', checkpoint_id } = put;
  const key = { thread_id: session.thread_id, checkpoint_ns, checkpoint_id };
  const { summary, values } = await describedState(graph, key, new SvcCheckpointer(session, checkpoints));
  session.describe(checkpoint_ns, checkpoint_id, summary, values);
};

/** The values of a state by channel. `keys`: a text when the state is the value of one channel. */
export const stateValues = (keys: CheckpointSummary['keys'], values: unknown): StateValues => {
  if (typeof keys === 'string') return values === undefined ? {} : { [keys]: values };
  return typeof values === 'object' && values !== null ? (values as Record<string, unknown>) : {};
};

export interface DescribedState {
  summary: CheckpointSummary;
  values: StateValues;
}

/** The summary and the values of a checkpoint of the checkpointer, as the engine derives them with the graph. */
export const describedState = async (
  graph: Graph,
  key: { thread_id: string; checkpoint_ns: string; checkpoint_id: string },
  checkpointer: BaseCheckpointSaver,
): Promise<DescribedState> => {
  const described = await graphOf(graph, key.checkpoint_ns);
  const state = await described.getState({
    configurable: { ...key, __pregel_checkpointer: checkpointer },
  });
  const keys = described.streamChannelsAsIs as string | string[];
  const tasks = state.tasks.map(({ id, name, path, state: inner }) => {
    const ns = (inner as { configurable?: { checkpoint_ns?: string } } | undefined)?.configurable
      ?.checkpoint_ns;
    return { id, name, path: path ?? [], ...(ns === undefined ? {} : { ns }) };
  });
  return { summary: { keys, tasks }, values: stateValues(keys, state.values) };
};

/** Records the states that the engine has not reported when a run ends: of checkpoints without tasks, and of supersteps that wait. */
export const recordStates = async (
  graph: Graph,
  session: ThreadSession,
  checkpoints: CheckpointStorage,
): Promise<void> => {
  for (const put of session.undescribed('')) await describeByState(graph, session, put, checkpoints);
  const waiting = session.waiting();
  if (waiting.length === 0) return;
  const { thread_id } = session;
  const stateAt = (place: Partial<CheckpointPlace>, subgraphs: boolean) => {
    const checkpointer = new SvcCheckpointer(session, checkpoints);
    const configurable = { thread_id, checkpoint_ns: '', ...place, __pregel_checkpointer: checkpointer };
    return graph.getState({ configurable }, { subgraphs }) as Promise<StateOfTree>;
  };
  const isInside = waiting.some(({ checkpoint_ns }) => checkpoint_ns !== '');
  for (const state of statesIn(await stateAt({}, isInside))) {
    const { checkpoint_ns = '', checkpoint_id = '' } = state.config.configurable ?? {};
    const stored = session.storedIds.of(checkpoint_id);
    const place = waiting.find((one) => one.checkpoint_ns === checkpoint_ns && one.checkpoint_id === stored);
    if (!place) continue;
    const base = place.hasCommand ? await stateAt({ checkpoint_ns, checkpoint_id }, false) : undefined;
    session.recordWaiting(checkpoint_ns, stored, {
      base: stateValues(place.keys, base?.values),
      head: stateValues(place.keys, state.values),
      next: [...state.next],
    });
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
const graphOf = async (graph: Graph, checkpoint_ns: string): Promise<Graph> => {
  if (checkpoint_ns === '') return graph;
  const name = subgraphPath(checkpoint_ns);
  for await (const [found, subgraph] of graph.getSubgraphsAsync(name, true))
    if (found === name) return subgraph as Graph;
  throw new Problem('invalid', `There is no subgraph "${name}"`);
};
