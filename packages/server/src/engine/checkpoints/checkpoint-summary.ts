// What a reader of a checkpoint would otherwise need the graph for, recorded when the checkpoint is made.

export interface SummaryTask {
  id: string;
  name: string;
  /** Absent for the usual one, that of a node which its edges triggered. */
  path?: unknown[] | undefined;
  /** The task's own checkpoint namespace, where it runs a subgraph. */
  ns?: string;
}

export interface CheckpointSummary {
  /**
   * The channels that make up `values`, or the one channel whose value `values` is. Absent when they are all
   * that are not internal.
   */
  keys?: string[] | string | undefined;
  /** What runs next. */
  tasks: SummaryTask[];
}

/** A node wrote the referenced value to a channel; a null channel means the value is the whole update. */
export type NodeWrite = [node: string, channel: string | null, ref: string];

/** How the engine writes the path of a task that edges triggered. */
export const usualPath = (name: string): unknown[] => ['__pregel_pull', name];

/** Leaves out what readers take for granted: half the bytes of a small checkpoint. */
export const compactSummary = (
  { keys, tasks }: CheckpointSummary,
  channels: Iterable<string>,
): CheckpointSummary => {
  const isUsual =
    Array.isArray(keys) && [...channels].every((name) => isInternalChannel(name) || keys.includes(name));
  return {
    ...(isUsual ? {} : { keys }),
    tasks: tasks.map(({ path, ...task }) =>
      JSON.stringify(path) === JSON.stringify(usualPath(task.name)) ? task : { ...task, path },
    ),
  };
};

/** Channels of the engine's own bookkeeping, never part of a state's values. */
export const isInternalChannel = (channel: string): boolean =>
  channel.startsWith('__') || channel.startsWith('branch:') || channel.startsWith('join:');
