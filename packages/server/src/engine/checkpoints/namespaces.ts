// Namespaces of checkpoints: empty for the root, `outer:<task>|inner:<task>` for a subgraph, with a number after parallel calls in one task.
import type {
  CheckpointKey,
  StoredCheckpoint,
} from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';
import { CheckpointNotStored } from './checkpoint-not-stored.ts';

/** The names of the subgraphs on the way to a namespace, as the engine lists subgraphs: `outer|inner`. */
export const subgraphPath = (checkpoint_ns: string): string =>
  checkpoint_ns
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0])
    .join('|');

/**
 * Where a subgraph with a memory of its own (`checkpointer: true`) has its checkpoints: the same namespace for every task. Undefined when the
 * namespace names no task.
 */
export const memoryNamespace = (checkpoint_ns: string): string | undefined =>
  checkpoint_ns.includes(':')
    ? checkpoint_ns
        .split('|')
        .map((part) => part.split(':')[0])
        .join('|')
    : undefined;

/**
 * The checkpoint of the key; without an id, the head of its namespace. The namespace of a task stands for that of a subgraph with a memory
 * of its own too.
 */
export const findCheckpoint = async (
  storage: Pick<CheckpointStorage, 'find'>,
  key: CheckpointKey,
): Promise<StoredCheckpoint | undefined> => {
  const found = await storage.find(key);
  const shared = found ? undefined : memoryNamespace(key.checkpoint_ns);
  return shared === undefined ? found : storage.find({ ...key, checkpoint_ns: shared });
};

/** An entry of an index has at most 2,704 bytes. In the index of pending writes, all other columns need 200. */
const namespaceBytesMax = 2_500;

/** Throws when the names of nested subgraphs are too long together. */
export const checkNamespace = (ns: string): void => {
  const bytes = ns.length > namespaceBytesMax / 3 ? Buffer.byteLength(ns) : 0;
  if (bytes > namespaceBytesMax)
    throw new CheckpointNotStored(
      `The checkpoint cannot be stored: the namespace of the subgraph has ${bytes} bytes, and at most ${namespaceBytesMax} are possible. Nest fewer subgraphs, or give their nodes shorter names`,
    );
};
