// The checkpoints of one namespace that a session works on. The engine reports in any order that a checkpoint is put, what its tasks are, and
// what they have written: with durability `exit` or a slow flush the tasks come before the put, and with many events after the put of the
// next checkpoint.
import type { StoredWrite } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { RecordedState } from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { CheckpointSummary, NodeWrite, SummaryTask } from './checkpoint-summary.ts';
import { compactSummary, isInternalChannel, summaryOf } from './checkpoint-summary.ts';
import { isApplied } from './task-writes.ts';

/** Records of a namespace. With durability `exit` the last step of many is put. */
const recordsMax = 1_000;

export type TaskWrite = [task_id: string, channel: string, ref: string];

/** References of the values of channels. A channel with the same version is not encoded again. */
export type ChannelRefs = ReadonlyMap<string, { version: unknown; ref: string }>;

/** Values of a state by channel. */
export type StateValues = Readonly<Record<string, unknown>>;

/** A checkpoint that was read from storage. */
export interface LoadedCheckpoint {
  checkpoint_id: string;
  step: number;
  versions: Record<string, unknown>;
  refs: Record<string, string>;
  writes: readonly StoredWrite[];
  recorded: RecordedState | undefined;
  /** The run of the checkpoint, and of its writes without one. */
  made_by: string | null;
  /** Null when its attempt was lost before it stored a summary. */
  shape: string | null;
}

export interface CheckpointRecord {
  readonly checkpoint_id: string;
  /** Undefined before the put. */
  step?: number;
  refs?: ChannelRefs;
  /** The nodes of `readyNodes`. */
  ready?: readonly string[];
  /** Undefined until the engine has reported the tasks. */
  summary?: CheckpointSummary;
  /** The summary that storage had before this session. */
  shape?: string | null;
  /** A command of this run has written to it. */
  isCommanded?: boolean;
  /** Values of the state, some of which the checkpoint may lack; until they are stored. */
  values?: StateValues | undefined;
  /** What is stored of its state besides its channels. */
  recorded?: RecordedState | undefined;
  /** Of a loaded checkpoint: references of its values of delta channels, before a command has changed them. */
  seed?: RecordedState['base'] | undefined;
  /** What its tasks have written. */
  writes: TaskWrite[];
  /** The next checkpoint, put before the tasks of this one were known: it lacks the names of the nodes that led to it. */
  unnamed?: string;
}

export interface CheckpointPlace {
  /** Empty for the graph itself, otherwise that of a subgraph. */
  checkpoint_ns: string;
  checkpoint_id: string;
}

/** A checkpoint as the engine derives it with the graph. */
export interface DescribedState {
  /** Undefined when there is no such checkpoint. */
  step: number | undefined;
  summary: CheckpointSummary;
  values: StateValues;
}

/** The engine's report of a checkpoint. */
export interface Report extends DescribedState {
  /** The newest stored checkpoint, which is an older one with durability `exit`. Undefined when none is stored. */
  checkpoint_id: string | undefined;
}

export class CheckpointRecords {
  readonly #records = new Map<string, CheckpointRecord>();
  #newest: CheckpointRecord | undefined;
  #described: CheckpointRecord | undefined;
  /** The newest report of a checkpoint that was not put. With durability `exit`, the engine puts only the last one, at the end. */
  #report: Report | undefined;

  /** The checkpoint that was put or loaded last. */
  get newest(): CheckpointRecord | undefined {
    return this.#newest;
  }

  /** The newest checkpoint with reported tasks. */
  get described(): CheckpointRecord | undefined {
    return this.#described;
  }

  find(checkpoint_id: string): CheckpointRecord | undefined {
    return this.#records.get(checkpoint_id);
  }

  of(checkpoint_id: string): CheckpointRecord {
    const record = this.#records.get(checkpoint_id) ?? { checkpoint_id, writes: [] };
    this.#records.set(checkpoint_id, record);
    return record;
  }

  put(checkpoint_id: string, step: number, refs: ChannelRefs, ready?: readonly string[]): CheckpointRecord {
    const record = Object.assign(this.of(checkpoint_id), { step, refs, ready });
    this.#newest = record;
    if (this.#report?.step === step) this.#describe(checkpoint_id, this.#report);
    return record;
  }

  /** Adds a report to the record of its checkpoint; undefined as long as this is not put. */
  report(report: Report): CheckpointRecord | undefined {
    const { checkpoint_id, step } = report;
    if (checkpoint_id !== undefined && (this.find(checkpoint_id)?.step ?? step) === step)
      return this.#describe(checkpoint_id, report);
    const newest = this.#newest;
    if (newest && newest.step === step) return this.#describe(newest.checkpoint_id, report);
    this.#report = report;
    return undefined;
  }

  #describe(checkpoint_id: string, { summary, values }: Report): CheckpointRecord {
    this.#report = undefined;
    const record = Object.assign(this.of(checkpoint_id), { summary, values });
    if (checkpoint_id >= (this.#described?.checkpoint_id ?? '')) this.#described = record;
    this.#forget();
    return record;
  }

  /** Puts and reports of tasks come in the order of the checkpoints, each at its own pace: what is older than both is not needed any more. */
  #forget(): void {
    const [put, described] = [this.#newest?.checkpoint_id ?? '', this.#described?.checkpoint_id ?? ''];
    for (const [id, record] of this.#records) {
      const isOver = id < put && id < described && !isUndescribed(record) && record.isCommanded !== true;
      if (isOver || this.#records.size > recordsMax) this.#records.delete(id);
    }
  }

  /** Checkpoints that were put, without a report of all their tasks. */
  undescribed(): CheckpointRecord[] {
    return [...this.#records.values()].filter(isUndescribed);
  }

  /** Checkpoints to which a command of this run has written. */
  commanded(): CheckpointRecord[] {
    return [...this.#records.values()].filter(({ isCommanded }) => isCommanded === true);
  }

  /** The newest checkpoint, if a task has finished or a command has written: no checkpoint has these values yet. */
  waiting(): CheckpointRecord | undefined {
    const isWaiting = this.#newest?.writes.some(([task_id, channel]) => isApplied(task_id, channel));
    return isWaiting === true ? this.#newest : undefined;
  }

  /** What nodes have written after the parent, so that this checkpoint was created; undefined until the tasks of the parent are known. */
  wrote(parent_id: string | undefined, checkpoint_id: string, step: number): NodeWrite[] | undefined {
    const parent = parent_id === undefined ? undefined : this.find(parent_id);
    // With durability `exit`, steps between them were not stored.
    if (!parent || parent.step !== step - 1) return [];
    if (parent.summary) return namedWrites(parent);
    parent.unnamed = checkpoint_id;
    return undefined;
  }
}

/**
 * The nodes of waiting edges that are ready: all nodes before the edge have ended. The channel `join:one+two:last` then has the value ['one', 'two'].
 * If something else has triggered such a node in the same step, the channel keeps its value, and the engine does not report another task of the node
 * while it runs. But the node is next when the engine reads the checkpoint.
 */
export const readyNodes = (values: StateValues): string[] =>
  Object.entries(values).flatMap(([channel, value]) => {
    if (!channel.startsWith('join:') || !Array.isArray(value)) return [];
    // With the edge of a deferred node: the nodes that have ended, and whether all others have, too.
    const [first, isFinished] = value as unknown[];
    const ended = Array.isArray(first) ? (isFinished === true ? first : []) : value;
    const node = channel.slice(channel.lastIndexOf(':') + 1);
    return channel.length === `join:${ended.join('+')}:${node}`.length ? [node] : [];
  });

const isUndescribed = ({ refs, ready = [], summary, shape }: CheckpointRecord): boolean => {
  if (refs === undefined || typeof shape === 'string') return false;
  return !summary || ready.some((node) => !summary.tasks.some(({ name }) => name === node));
};

/** A task that waits at a loaded checkpoint, and that the engine no longer finds there: the graph has lost its node. */
export const lostTask = ({ shape, summary }: CheckpointRecord): SummaryTask | undefined => {
  const waiting = summaryOf({ shape })?.tasks;
  if (waiting === undefined) return undefined;
  const found = new Set(summary?.tasks.map(({ id }) => id));
  return waiting.find(({ id }) => !found.has(id));
};

export const namedWrites = ({ summary, writes }: CheckpointRecord): NodeWrite[] => {
  const names = new Map(summary?.tasks.map((task) => [task.id, task.name]));
  return writes.flatMap(([task_id, channel, ref]): NodeWrite[] => {
    const name = names.get(task_id);
    return name === undefined || isInternalChannel(channel) ? [] : [[name, channel, ref]];
  });
};

/** Selected checkpoints of all namespaces. */
export const placesOf = <T extends object>(
  records: ReadonlyMap<string, CheckpointRecords>,
  select: (records: CheckpointRecords) => T[],
): (T & { checkpoint_ns: string })[] =>
  [...records].flatMap(([checkpoint_ns, all]) => select(all).map((one) => ({ ...one, checkpoint_ns })));

/** References of values, without those that are `known`. */
export type RefsOf = (
  values: StateValues,
  known?: (channel: string) => string | undefined,
) => Record<string, string>;

const tasksText = ({ tasks }: CheckpointSummary): string => JSON.stringify(tasks);

/** The state of a checkpoint to which a command has written: its values, and its tasks if they are not those of its summary. */
export const commandedState = (
  { refs, summary: own, recorded, ...record }: CheckpointRecord,
  { summary, values }: DescribedState,
  refsOf: RefsOf,
): RecordedState => {
  const compact = compactSummary(summary, []);
  const stored = summaryOf(record) ?? (own && compactSummary(own, []));
  const isSame = stored && tasksText(stored) === tasksText(compact);
  return {
    base: refsOf(values, (channel) => refs?.get(channel)?.ref),
    ...(isSame ? {} : { tasks: compact.tasks }),
    ...(recorded?.head ? { head: recorded.head } : {}),
  };
};

/** The state of a superstep that waits. `values`: with what its tasks have written; `next`: the nodes that are left to run. */
export const waitingState = (
  { refs, recorded }: CheckpointRecord,
  values: StateValues,
  next: string[],
  refsOf: RefsOf,
): RecordedState => {
  const state = recorded ?? { base: {} };
  const known = (channel: string): string | undefined => state.base[channel] ?? refs?.get(channel)?.ref;
  return { ...state, head: { values: refsOf(values, known), next } };
};
