// What a state has besides the values of its checkpoint's channels. The engine computes it with the reducers of the graph, and readers load no
// graph, so it is recorded with the checkpoint, in the form of a control write: copied, pruned, rolled back and replaced like the others. The
// engine does not get it.
import type { StoredCheckpoint, WriteRow } from './checkpoint-rows.ts';

/** References of values by channel. */
type Refs = Record<string, string>;

export interface RecordedState {
  /** Values that the checkpoint has as changes (delta channels), or that a command has changed since. */
  base: Refs;
  /** The tasks, in the form of a summary, where a command has changed them. */
  tasks?: readonly unknown[];
  /** At the newest checkpoint of a namespace: values that tasks of a waiting superstep have changed, and the nodes that are left to run. */
  head?: { values: Refs; next: string[] };
}

/** The key of the write, besides that of its checkpoint. */
const key = { task_id: '__state__', idx: -100, channel: '__state__' } as const;

/** A join of the recorded state of a checkpoint `c` as `s`. */
export const recordedJoin = `left join checkpoint_writes s on s.thread_id = c.thread_id and s.checkpoint_ns = c.checkpoint_ns
        and s.checkpoint_id = c.checkpoint_id and s.task_id = '${key.task_id}' and s.idx = ${key.idx}`;

/** A condition on a write, and the JSON of its `RecordedState`. */
export const isRecordedSql = (write: string): string => `${write}.task_id = '${key.task_id}'`;
export const recordedRefs = (write: string): string => `substr(${write}.ref, 2)::json`;

export const recordedWrite = (
  state: RecordedState,
): Pick<WriteRow, 'task_id' | 'idx' | 'channel' | 'task_path' | 'ref'> => ({
  ...key,
  task_path: null,
  // In the form of a small value, so that all functions which follow references can read it.
  ref: `=${JSON.stringify(state)}`,
});

const isRecorded = ({ task_id }: Pick<WriteRow, 'task_id'>): boolean => task_id === key.task_id;

const parse = (ref: string): RecordedState => JSON.parse(ref.slice(1)) as RecordedState;

export const recordedIn = (
  writes: readonly Pick<WriteRow, 'task_id' | 'ref'>[],
): RecordedState | undefined => {
  const write = writes.find(isRecorded);
  return write && parse(write.ref);
};

/** The writes without the recorded state. */
export const engineWrites = <T extends Pick<WriteRow, 'task_id'>>(writes: readonly T[]): T[] =>
  writes.filter((write) => !isRecorded(write));

const channelsWith = (channels: string, { base, head }: RecordedState): string =>
  JSON.stringify({ ...(JSON.parse(channels) as Refs), ...base, ...head?.values });

/** The channels of the newest checkpoint with the values of its recorded state, which is a reference or null. */
export const channelsAtHead = (channels: string, recorded: string | null): string =>
  recorded === null ? channels : channelsWith(channels, parse(recorded));

/** The summary of a checkpoint with the tasks of its recorded state. */
const shapeWith = (shape: string | null, { tasks }: RecordedState): string | null =>
  tasks === undefined ? shape : JSON.stringify({ ...(JSON.parse(shape ?? '{}') as object), tasks });

export interface StateAt {
  stored: StoredCheckpoint;
  /** The nodes that are left to run, where they are not all tasks of the checkpoint. */
  next?: string[];
}

const stateAt = ({ checkpoint, writes }: StoredCheckpoint, recorded: RecordedState): StateAt => ({
  stored: {
    checkpoint: {
      ...checkpoint,
      channels: channelsWith(checkpoint.channels, recorded),
      shape: shapeWith(checkpoint.shape, recorded),
    },
    writes: engineWrites(writes),
  },
  ...(recorded.head ? { next: recorded.head.next } : {}),
});

/** The state of a namespace at its newest checkpoint: with the writes of a waiting superstep, as the engine shows it. */
export const stateAtHead = (stored: StoredCheckpoint): StateAt => {
  const recorded = recordedIn(stored.writes);
  return recorded ? stateAt(stored, recorded) : { stored };
};

/** The state at a checkpoint that is named, or in a history. */
export const stateAtCheckpoint = (stored: StoredCheckpoint): StateAt => {
  const recorded = recordedIn(stored.writes);
  const { head: _, ...state } = recorded ?? { base: {} };
  return recorded ? stateAt(stored, state) : { stored };
};
