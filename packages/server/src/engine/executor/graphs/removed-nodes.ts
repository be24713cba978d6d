// A thread waits with tasks that name nodes. When a deployment has removed such a node, the engine drops its task without an error: the run would
// succeed without executing anything, and an answer would be lost. Such a run is refused before it executes anything. Subgraphs that a node calls itself are
// not known before: a run ends when one of them has lost a task.
import { summaryOf, type SummaryTask, usualPath } from '../../checkpoints/checkpoint-summary.ts';
import type { SvcCheckpointer } from '../../checkpoints/checkpointer.ts';
import { memoryNamespace, subgraphPath } from '../../checkpoints/namespaces.ts';
import { isControl } from '../../checkpoints/task-writes.ts';
import type { RunKwargs } from '../../dispatch/protocol.ts';
import type { StoredCheckpoint } from '../../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { Graph } from './graph-registry.ts';
import { RunRefused } from '../runs/run-outcome.ts';
import { findSubgraph } from '../state/state-summary.ts';

/** True when the run continues the tasks of a checkpoint. With an input, a `goto` or an update, the caller chooses what follows. */
export const continuesTasks = ({ input, command }: RunKwargs): boolean =>
  command ? command.resume !== undefined && command.resume !== null : input === undefined || input === null;

/**
 * Throws when the graph has lost a node of the next superstep of a checkpoint. `checkpointer`: also for the newest checkpoints of the subgraphs
 * that wait there.
 */
export const assertNodes = async (
  graph: Graph,
  { checkpoint, writes }: StoredCheckpoint,
  checkpointer: Pick<SvcCheckpointer, 'findHead'> | undefined,
): Promise<void> => {
  const { body, checkpoint_ns } = checkpoint;
  const { tasks = [] } = summaryOf(checkpoint) ?? {};
  const { channel_versions = {} } = JSON.parse(body) as { channel_versions?: Record<string, unknown> };
  const removed = tasks.find((task) => !canPrepare(graph, task, channel_versions));
  if (removed) throw refusal(removed.name, checkpoint_ns);
  if (!checkpointer) return;
  const finished = new Set(writes.flatMap(({ task_id, channel }) => (isControl(channel) ? [] : [task_id])));
  const open = tasks.filter(({ id }) => !finished.has(id));
  await Promise.all(
    open.map(async ({ name, ns }) => {
      const inner = ns === undefined ? undefined : await findSubgraph(graph, name);
      const waiting = inner && (await checkpointer.findHead(namespaceOf(inner, ns ?? '')));
      if (waiting) await assertNodes(inner, waiting, checkpointer);
    }),
  );
};

/** False when the engine would find no such task at the checkpoint: the node is gone, or no edge that leads to it was taken. */
const canPrepare = (
  graph: Graph,
  { name, path = usualPath(name) }: SummaryTask,
  versions: Record<string, unknown>,
): boolean => {
  const node = Object.hasOwn(graph.nodes, name) ? graph.nodes[name] : undefined;
  if (!node) return false;
  return (
    path[0] !== '__pregel_pull' ||
    (node.triggers as string[]).some((channel) => versions[channel] !== undefined)
  );
};

/**
 * Throws when the tasks of the checkpoint were prepared by a graph of the other language: their ids differ, so its finished tasks would be
 * executed again. `isPython`: of a graph by its id.
 */
export const assertLanguage = (
  graph_id: string,
  { checkpoint }: StoredCheckpoint,
  isPython: (graph_id: string) => boolean,
): void => {
  const { graph_id: made_by } = JSON.parse(checkpoint.metadata) as { graph_id?: unknown };
  const isOpen = (summaryOf(checkpoint)?.tasks.length ?? 0) > 0;
  if (!isOpen || typeof made_by !== 'string' || isPython(made_by) === isPython(graph_id)) return;
  const languages = isPython(made_by) ? ['Python', 'JavaScript'] : ['JavaScript', 'Python'];
  throw new RunRefused(
    `The thread waits in the ${languages[0]} graph "${made_by}". The ${languages[1]} graph "${graph_id}" cannot continue its open tasks. ` +
      `Continue it with "${made_by}", or start a run with an input`,
  );
};

const namespaceOf = (subgraph: Graph, ns: string): string =>
  (subgraph.checkpointer === true ? memoryNamespace(ns) : undefined) ?? ns;

const refusal = (node: string, checkpoint_ns: string): RunRefused =>
  new RunRefused(
    `${lostText(node, checkpoint_ns)}. Nothing was executed, and questions stay open. ${advice}`,
  );

/** The engine has found the subgraph without the node while it ran: a node calls this subgraph itself. */
export const lostInRun = (node: string, checkpoint_ns: string): RunRefused =>
  new RunRefused(
    `${lostText(node, checkpoint_ns)}. The node that calls the subgraph was not finished, and its question stays open. ${advice}`,
  );

const lostText = (node: string, checkpoint_ns: string): string => {
  const place = checkpoint_ns === '' ? '' : ` of the subgraph "${subgraphPath(checkpoint_ns)}"`;
  return `The thread waits at the node "${node}"${place}, which the graph no longer has or no longer leads to`;
};

const advice =
  'Start a run from an earlier checkpoint (checkpoint_id), or update the state as a node that exists (as_node) and continue';
