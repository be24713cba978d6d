// The history from which the engine rebuilds the values of delta channels at a checkpoint.
import type { DeltaChannelHistory } from '@langchain/langgraph-checkpoint';
import type { StoredCheckpoint, StoredWrite } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { engineWrites, recordedIn } from '../../storage/deployment/checkpoints/recorded-state.ts';
import { seedOf } from './task-writes.ts';

/** References of values by channel. */
type Refs = Readonly<Record<string, string>>;

/** The value of a channel at a checkpoint, and what was written since. Without `seed` the channel begins empty. */
export interface DeltaRefs {
  seed?: string;
  writes: StoredWrite[];
}

export interface DeltaSource {
  find(checkpoint_id: string): Promise<StoredCheckpoint | undefined>;
  /** The values at a loaded checkpoint, before a command of this run has changed them. */
  loadedSeed(checkpoint_id: string): Refs | undefined;
}

/**
 * Values are recorded with each checkpoint, as readers see them. The walk stops at the first checkpoint that has a value. The engine would replay the
 * writes of all ancestors, also those that a run has stored at an ancestor since: an answer there would change the branch that had followed. It
 * would not find those of a command on an empty thread, because their checkpoint is never stored.
 */
export const walkDeltas = async (
  source: DeltaSource,
  start: string | null | undefined,
  channels: readonly string[],
): Promise<Map<string, DeltaRefs>> => {
  const deltas = new Map<string, DeltaRefs>(channels.map((channel) => [channel, { writes: [] }]));
  const open = new Map(deltas);
  const stopAt = (seeds: Refs = {}): void => {
    for (const [channel, delta] of open) {
      const seed = Object.hasOwn(seeds, channel) ? seeds[channel] : undefined;
      if (seed === undefined) continue;
      delta.seed = seed;
      open.delete(channel);
    }
  };
  let at = start;
  if (at) stopAt(source.loadedSeed(at));
  while (at && open.size > 0) {
    const found = await source.find(at);
    if (!found) break;
    const { checkpoint, writes } = found;
    // The engine applies the writes of the first checkpoint itself.
    if (at !== start)
      for (const write of engineWrites(writes).toReversed()) open.get(write.channel)?.writes.unshift(write);
    stopAt(JSON.parse(checkpoint.channels) as Refs);
    stopAt(source.loadedSeed(at) ?? seedOf({ writes, recorded: recordedIn(writes) }));
    at = checkpoint.parent_id;
  }
  return deltas;
};

/** Replaces the references by values. */
export const joinDeltas = (
  deltas: ReadonlyMap<string, DeltaRefs>,
  join: (ref: string) => unknown,
): Record<string, DeltaChannelHistory> =>
  Object.fromEntries(
    [...deltas].map(([channel, { seed, writes }]) => [
      channel,
      {
        ...(seed === undefined ? {} : { seed: join(seed) }),
        writes: writes.map(({ task_id, ref }) => [task_id, channel, join(ref)]),
      },
    ]),
  );
