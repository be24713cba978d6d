// The checkpoints of one namespace that a session works on. The engine reports in any order that a checkpoint is put, what its tasks are, and
// what they have written: with durability `exit` or a slow flush the tasks come before the put, and with many events after the put of the
// next checkpoint.
import type { StoredWrite } from '../../storage/deployment/checkpoint-rows.ts';
import type { RecordedState } from '../../storage/deployment/recorded-state.ts';
import type { CheckpointSummary, NodeWrite } from './checkpoint-summary.ts';
import { isInternalChannel } from './checkpoint-summary.ts';
import { isApplied, isOfCommand } from './task-writes.ts';

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
  /** False when its attempt was lost before it stored a summary. */
  isDescribed: boolean;
}

export interface WaitingCheckpoint {
  checkpoint_id: string;
  keys: CheckpointSummary['keys'];
  /** A command has written. */
  hasCommand: boolean;
}

export interface CheckpointRecord {
  readonly checkpoint_id: string;
  /** Undefined before the put. */
  step?: number;
  refs?: ChannelRefs;
  /** Undefined until the engine has reported the tasks. */
  summary?: CheckpointSummary;
  /** True when storage had a summary before this session. */
  isDescribed?: boolean;
  /** Values of the state, some of which the checkpoint may lack; until they are stored. */
  values?: StateValues | undefined;
  /** What is stored of its state besides its channels. */
  recorded?: RecordedState | undefined;
  /** What its tasks have written. */
  writes: TaskWrite[];
  /** The next checkpoint, put before the tasks of this one were known: it lacks the names of the nodes that led to it. */
  unnamed?: string;
}

export class CheckpointRecords {
  readonly #records = new Map<string, CheckpointRecord>();
  #newest: CheckpointRecord | undefined;
  #described: CheckpointRecord | undefined;

  /** The checkpoint that was put or loaded last. */
  get newest(): CheckpointRecord | undefined {
    return this.#newest;
  }

  /** The checkpoint whose tasks were reported last. */
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

  put(checkpoint_id: string, step: number, refs: ChannelRefs): CheckpointRecord {
    const record = Object.assign(this.of(checkpoint_id), { step, refs });
    this.#newest = record;
    return record;
  }

  describe(checkpoint_id: string, summary: CheckpointSummary, values: StateValues): CheckpointRecord {
    const record = Object.assign(this.of(checkpoint_id), { summary, values });
    if (checkpoint_id >= (this.#described?.checkpoint_id ?? '')) this.#described = record;
    this.#forget();
    return record;
  }

  /** Puts and reports of tasks come in the order of the checkpoints, each at its own pace: what is older than both is not needed any more. */
  #forget(): void {
    const [put, described] = [this.#newest?.checkpoint_id ?? '', this.#described?.checkpoint_id ?? ''];
    for (const [id, record] of this.#records) {
      const isOver = id < put && id < described && !isUndescribed(record);
      if (isOver || this.#records.size > recordsMax) this.#records.delete(id);
    }
  }

  /** Checkpoints that were put, and whose tasks the engine has not reported. */
  undescribed(): CheckpointRecord[] {
    return [...this.#records.values()].filter(isUndescribed);
  }

  /** The newest checkpoint, if a task has finished or a command has written: no checkpoint has these values yet. */
  waiting(): WaitingCheckpoint | undefined {
    if (!this.#newest) return undefined;
    const { checkpoint_id, summary, writes } = this.#newest;
    if (!writes.some(([task_id, channel]) => isApplied(task_id, channel))) return undefined;
    const hasCommand = writes.some(([task_id, channel]) => isOfCommand(task_id, channel));
    return { checkpoint_id, keys: summary?.keys, hasCommand };
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

const isUndescribed = ({ refs, summary, isDescribed }: CheckpointRecord): boolean =>
  refs !== undefined && summary === undefined && isDescribed !== true;

export const namedWrites = ({ summary, writes }: CheckpointRecord): NodeWrite[] => {
  const names = new Map(summary?.tasks.map((task) => [task.id, task.name]));
  return writes.flatMap(([task_id, channel, ref]): NodeWrite[] => {
    const name = names.get(task_id);
    return name === undefined || isInternalChannel(channel) ? [] : [[name, channel, ref]];
  });
};
