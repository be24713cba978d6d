// A state update at a checkpoint: it creates a checkpoint on a branch of its own.
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useClient } from '../api/client.tsx';
import { refreshChanged } from '../api/refresh.ts';

export interface StateUpdate {
  values: Record<string, unknown>;
  /** The node that counts as the writer of the update; undefined: the one that wrote last. */
  asNode: string | undefined;
}

export interface Fork {
  checkpointId: string;
  /** The nodes that a run from it executes. */
  next: string[];
}

/** The same update again returns the fork that it has created: a run of it may have been refused before. */
export const useFork = (threadId: string, checkpointId: string): ((update: StateUpdate) => Promise<Fork>) => {
  const client = useClient();
  const queries = useQueryClient();
  const last = useRef<{ update: string; fork: Fork }>(undefined);
  return async ({ values, asNode }) => {
    const update = JSON.stringify([values, asNode]);
    if (last.current?.update === update) return last.current.fork;
    const { checkpoint } = await client.threads.updateState(threadId, {
      values,
      checkpointId,
      ...(asNode === undefined ? {} : { asNode }),
    });
    const id = checkpoint.checkpoint_id ?? '';
    const { next } = await client.threads.getState(threadId, { checkpointId: id, select: ['next'] });
    const fork = { checkpointId: id, next };
    last.current = { update, fork };
    await refreshChanged(queries);
    return fork;
  };
};
