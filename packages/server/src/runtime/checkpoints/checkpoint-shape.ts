// What a reader of a checkpoint would otherwise need the graph for, recorded when the checkpoint is made.

export interface ShapeTask {
  id: string;
  name: string;
  path: unknown[];
  /** The task's own checkpoint namespace, where it runs a subgraph. */
  ns?: string;
}

export interface CheckpointShape {
  /** The channels that make up `values`; or the one channel whose value `values` is. */
  keys: string[] | string;
  /** What runs next. */
  tasks: ShapeTask[];
}

/** A node wrote the referenced value to a channel; a null channel means the value is the whole update. */
export type NodeWrite = [node: string, channel: string | null, ref: string];

/** Channels of the engine's own bookkeeping, never part of a state's values. */
export const isInternalChannel = (channel: string): boolean =>
  channel.startsWith('__') || channel.startsWith('branch:') || channel.startsWith('join:');
