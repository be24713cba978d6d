// How an attempt starts. After an attempt that was lost or given back, the next one continues from what the run has stored:
//
//   root checkpoint of the run stored ──▶ continues from it, without the run's input or command. A subgraph
//                                         with a memory of its own that has not begun takes its input
//   none stored                       ──▶ starts as the first attempt did. A resume value answers the interrupts that
//                                         the run found, but not those that it has raised since in a subgraph
import type { RunProgress } from '../../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { CheckpointStorage } from '../../../storage/deployment/checkpoints/checkpoints.ts';
import { SvcCheckpointer, type EphemeralCheckpointer } from '../../checkpoints/checkpointer.ts';
import { findCheckpoint } from '../../checkpoints/namespaces.ts';
import { type ParsedRunCommand, type RunKwargs, hasInterruptIds } from '../../dispatch/protocol.ts';
import { eventsOf } from '../../streams/run-subscription.ts';
import type { ThreadSession } from '../../checkpoints/thread-session.ts';
import type { ValueCodec } from '../../codec/value-codec.ts';
import { isCached, isInterrupt } from '../events/chunk-events.ts';
import { eventName } from '../events/stream-modes.ts';
import type { Graph } from '../graphs/graph-registry.ts';
import { RunRefused } from './run-outcome.ts';

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
    return { kwargs: withoutInput(given), steps: stepsOf(progress, config, graph) };
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

/** For a run that continues. */
export const withoutInput = ({
  input: _input,
  command: _command,
  checkpoint: _checkpoint,
  ...rest
}: RunKwargs): RunKwargs => rest;

export const stepsOf = (
  { step: newest, checkpoints }: RunProgress,
  config: ParsedRunCommand['config'],
  graph: Graph,
): NonNullable<RunStart['steps']> => {
  const configured = config['recursionLimit'] as number | undefined;
  const limit = configured ?? graph.config?.recursionLimit ?? recursionLimitDefault;
  // The engine counts one more step for the input, and one for the step from which it counts.
  return { limit, newest, last: newest - checkpoints + limit + 2 };
};

/** The root checkpoint at which the run starts; undefined for the newest one. */
const rootIdOf = (checkpoint: RunKwargs['checkpoint']): string | undefined =>
  checkpoint?.checkpoint_ns
    ? (checkpoint.checkpoint_map?.[''] as string | undefined)
    : checkpoint?.checkpoint_id;

/** True when the resume value answers all interrupts. For the engine, `false`, 0 and "" are answers too. */
const isPlainAnswer = (resume: unknown): boolean =>
  resume !== undefined && resume !== null && !hasInterruptIds(resume);

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

// Events in the log of a run that its next attempt emits again although no write of the run shows that they are logged: interrupts, because
// a claim deletes their writes, and `updates` of tasks that earlier runs have finished.
export class RepeatedEvents {
  readonly #codec: ValueCodec;
  /** How often the log has an event, by its name and data. */
  readonly #logged = new Map<string, number>();

  private constructor(codec: ValueCodec) {
    this.#codec = codec;
  }

  /**
   * Reads what the earlier attempts have logged. Undefined when nothing of it counts: with durability `exit`, the events of the newest attempt
   * do. Not by `attempt`, which does not count an attempt that has stored a step.
   */
  static async load(
    { run_id, lease_token, kwargs }: ParsedRunCommand,
    codec: ValueCodec,
    storage: Pick<CheckpointStorage, 'repeatableEvents'>,
  ): Promise<RepeatedEvents | undefined> {
    const hasLog = lease_token > 1 && kwargs.stream_resumable === true && kwargs.durability !== 'exit';
    if (!hasLog) return undefined;
    const repeated = new RepeatedEvents(codec);
    for (const events of await storage.repeatableEvents(run_id))
      for (const [event, data] of eventsOf({ events })) repeated.#add(event, data);
    return repeated;
  }

  /**
   * True when the log has these `updates`. The engine repeats those of finished tasks, and the interrupts of other tasks. The log has the
   * `updates` of tasks that this run has finished, because they were stored with the writes. Whether it has the other events depends on when
   * the earlier attempt was lost.
   */
  has(namespace: string[], payload: unknown, session: ThreadSession | undefined): boolean {
    if (!isInterrupt(payload)) {
      if (!isCached(payload)) return false;
      const nodes = Object.keys(payload).filter((key) => key !== '__metadata__');
      const finished = nodes.map((node) => session?.finishedBy(namespace.join('|'), node));
      if (finished.includes(undefined)) return false;
      if (!finished.includes('earlier runs')) return true;
    }
    const event = eventName('updates', namespace);
    return this.#take(event, this.#codec.toJson(payload, event));
  }

  #add(event: string, data: string): void {
    if (!/^updates(?![^|])/.test(event) || !repeatable.some((part) => data.includes(part))) return;
    const key = keyOf(event, data);
    this.#logged.set(key, (this.#logged.get(key) ?? 0) + 1);
  }

  /** True when the log has the event. Each logged event is taken once: two tasks may have equal updates. */
  #take(event: string, data: string): boolean {
    const key = keyOf(event, data);
    const count = this.#logged.get(key) ?? 0;
    if (count > 0) this.#logged.set(key, count - 1);
    return count > 0;
  }
}

const repeatable = ['"__interrupt__":', '"cached":true'];

const keyOf = (event: string, data: string): string => `${event}\n${data}`;
