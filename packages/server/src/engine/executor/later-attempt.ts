// How an attempt starts. After an attempt that was lost or given back, the next one continues from what the run has stored:
//
//   root checkpoint of the run stored ──▶ continues from it, without the run's input or command. A subgraph
//                                         with a memory of its own that has not begun takes its input
//   none stored                       ──▶ starts as the first attempt did. A resume value answers the interrupts that
//                                         the run found, but not those that it has raised since in a subgraph
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';
import { SvcCheckpointer } from '../checkpoints/checkpointer.ts';
import { findCheckpoint } from '../checkpoints/namespaces.ts';
import type { ParsedRunCommand, RunKwargs } from '../dispatch/protocol.ts';
import { namesInterrupts } from '../dispatch/resume-value.ts';
import type { EphemeralCheckpointer } from './ephemeral-checkpointer.ts';
import type { Graph } from './graph-registry.ts';
import { RunRefused } from './run-refused.ts';

export interface RunStart {
  kwargs: RunKwargs;
  /**
   * For a run that continues: its recursion limit, and the metadata.step of its newest checkpoint and of the last
   * checkpoint that the limit allows.
   */
  steps?: { limit: number; newest: number; last: number };
}

/** The engine's default. */
const recursionLimitDefault = 25;

export const startOf = async (
  { lease_token, kwargs: given, config, thread_id, run_id }: ParsedRunCommand,
  graph: Graph,
  checkpointer: SvcCheckpointer | EphemeralCheckpointer,
  storage: Pick<CheckpointStorage, 'find' | 'findProgress'>,
): Promise<RunStart> => {
  if (!(checkpointer instanceof SvcCheckpointer)) return { kwargs: given };
  const isFirst = lease_token === 1;
  const progress = isFirst ? undefined : await storage.findProgress(thread_id, run_id);
  if (progress) {
    const { update, goto } = given.command ?? {};
    checkpointer.continueSuperstep(
      update == null && goto == null ? undefined : (progress.start ?? undefined),
    );
    const configured = config['recursionLimit'] as number | undefined;
    const limit = configured ?? graph.config?.recursionLimit ?? recursionLimitDefault;
    const { input: _, command: _command, checkpoint: _checkpoint, ...rest } = given;
    // The engine counts one more step for the input, and one for the step from which it counts.
    const { step: newest, checkpoints } = progress;
    return { kwargs: rest, steps: { limit, newest, last: newest - checkpoints + limit + 2 } };
  }
  const checkpoint = await withCheckpointMap(thread_id, given.checkpoint, storage);
  const kwargs = checkpoint ? { ...given, checkpoint } : given;
  if (isFirst || !isPlainAnswer(kwargs.command?.resume)) return { kwargs };
  const ids = await checkpointer.foundInterrupts(rootIdOf(checkpoint), run_id);
  if (ids.length === 0) return { kwargs };
  const { command } = kwargs;
  return {
    kwargs: {
      ...kwargs,
      command: { ...command, resume: Object.fromEntries(ids.map((id) => [id, command?.resume])) },
    },
  };
};

/** The root checkpoint at which the run starts; undefined for the newest one. */
const rootIdOf = (checkpoint: RunKwargs['checkpoint']): string | undefined =>
  checkpoint?.checkpoint_ns
    ? (checkpoint.checkpoint_map?.[''] as string | undefined)
    : checkpoint?.checkpoint_id;

/** True when the resume value answers all interrupts. For the engine, `false`, 0 and "" are answers too. */
const isPlainAnswer = (resume: unknown): boolean =>
  resume !== undefined && resume !== null && !namesInterrupts(resume);

type StartingPoint = RunKwargs['checkpoint'];

/**
 * Adds `checkpoint_map` to the checkpoint of a subgraph: the engine starts at the root, and finds by this map the checkpoints of the root and of the
 * subgraphs between. Throws when there is no such checkpoint.
 */
const withCheckpointMap = async (
  thread_id: string,
  checkpoint: StartingPoint,
  storage: Pick<CheckpointStorage, 'find'>,
): Promise<StartingPoint> => {
  const { checkpoint_ns = '', checkpoint_id, checkpoint_map } = checkpoint ?? {};
  if (checkpoint_ns === '' || checkpoint_id === undefined || checkpoint_map) return checkpoint;
  const found = await findCheckpoint(storage, { thread_id, checkpoint_ns, checkpoint_id });
  if (!found)
    throw new RunRefused(
      `checkpoint: the thread has no checkpoint ${checkpoint_id} in the namespace "${checkpoint_ns}". Take the checkpoint of a state or of a history of this thread`,
    );
  const { metadata, checkpoint_ns: ns } = found.checkpoint;
  const { parents = {} } = JSON.parse(metadata) as { parents?: Record<string, string> };
  return { checkpoint_ns: ns, checkpoint_id, checkpoint_map: { ...parents, [ns]: checkpoint_id } };
};
