// The summary of a checkpoint: its output channels and its next tasks. It is recorded when the checkpoint is created, so
// that readers need not load the graph.

export interface SummaryTask {
  id: string;
  name: string;
  /** Absent when it is the usual path: that of a node that was triggered by edges. */
  path?: unknown[] | undefined;
  /** Checkpoint namespace of the subgraph that the task runs. */
  ns?: string;
}

export interface CheckpointSummary {
  /**
   * The channels that `values` contains, or the single channel whose value is `values`. Absent when `values` contains all
   * channels that are not internal.
   */
  keys?: string[] | string | undefined;
  /** The next tasks. */
  tasks: SummaryTask[];
}

/** The stored summary of a checkpoint; undefined when none was recorded. */
export const summaryOf = ({ shape }: { shape?: string | null | undefined }): CheckpointSummary | undefined =>
  typeof shape === 'string' ? (JSON.parse(shape) as CheckpointSummary) : undefined;

/** A node wrote the referenced value to a channel; a null channel means the value is the whole update. */
export type NodeWrite = [node: string, channel: string | null, ref: string];

/** The task path that the engine gives to a node that was triggered by edges. */
export const usualPath = (name: string): unknown[] => ['__pregel_pull', name];

/** Omits the defaults, which readers restore. This halves the bytes of a small checkpoint. */
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

/** `hasMore`: some values are in no channel, so the summary has the order of the keys. */
export const summaryText = (
  summary: CheckpointSummary,
  channels: Iterable<string>,
  hasMore: boolean,
): string => {
  const compact = compactSummary(summary, channels);
  return JSON.stringify(hasMore ? { ...compact, keys: summary.keys } : compact);
};

export const writesText = (wrote: NodeWrite[] | undefined): string | null =>
  wrote && wrote.length > 0 ? JSON.stringify(wrote) : null;

/** True for channels in which the engine keeps data of its own; they are never part of a state's values. */
export const isInternalChannel = (channel: string): boolean =>
  channel.startsWith('__') || channel.startsWith('branch:') || channel.startsWith('join:');
