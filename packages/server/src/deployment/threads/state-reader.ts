// Reads threads' states from storage alone: no graph is loaded and nothing is recomputed. Values stay in wire
// form throughout; a page costs one query for its checkpoints and one for their blobs.
import type { ThreadState } from '@svc/contract';
import { notFound } from '@svc/contract/problem';
import type { CheckpointShape, NodeWrite } from '../../runtime/checkpoints/checkpoint-shape.ts';
import { isInternalChannel, usualPath } from '../../runtime/checkpoints/checkpoint-shape.ts';
import { joinWire } from '../../runtime/values/wire.ts';
import { hashesOf } from '../../runtime/values/blob-ref.ts';
import type { BlobRow, StoredCheckpoint } from '../../storage/checkpoints.ts';
import { everyRow } from '../../storage/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ThreadRow } from '../../storage/threads.ts';

type Join = (ref: string) => unknown;
type Values = Record<string, unknown>;

const channelsOf = (stored: StoredCheckpoint): Record<string, string> =>
  JSON.parse(stored.checkpoint.channels);
const wroteOf = (stored: StoredCheckpoint): NodeWrite[] => JSON.parse(stored.checkpoint.wrote ?? '[]');
const shapeOf = (stored: StoredCheckpoint): CheckpointShape | undefined =>
  stored.checkpoint.shape === null ? undefined : (JSON.parse(stored.checkpoint.shape) as CheckpointShape);

const refsOf = (stored: StoredCheckpoint): string[] => [
  ...Object.values(channelsOf(stored)),
  ...wroteOf(stored).map(([, , ref]) => ref),
  ...stored.writes.map(({ ref }) => ref),
];

/** A thread as it was found. Its id may come to stand for another: when it was made tells them apart. */
type FoundThread = Pick<ThreadRow, 'thread_id' | 'blob_space' | 'created_at'>;

export class StateReader {
  readonly #storage: Pick<Storage, 'checkpoints' | 'threads'>;

  constructor(storage: Pick<Storage, 'checkpoints' | 'threads'>) {
    this.#storage = storage;
  }

  /** The snapshots of checkpoints of a thread. Throws not_found when it has gone since it was found. */
  async states(thread: FoundThread, stored: StoredCheckpoint[]): Promise<ThreadState[]> {
    const join = await this.#joiner(thread.blob_space, stored.flatMap(refsOf));
    return this.#whole(thread, () => stored.map((one) => toState(one, join)));
  }

  /** The values alone, as a thread shows them. Throws not_found when it has gone since it was found. */
  async values(thread: FoundThread, stored: StoredCheckpoint): Promise<unknown> {
    const join = await this.#joiner(thread.blob_space, Object.values(channelsOf(stored)));
    return this.#whole(thread, () => valuesOf(stored, join));
  }

  /** For who has found nothing of a thread's state. Throws not_found when the thread has gone since it was found. */
  async assertThere({ thread_id, created_at }: FoundThread): Promise<void> {
    const there = await this.#storage.threads.find(thread_id, everyRow);
    if (there?.created_at !== created_at) throw notFound('Thread', thread_id);
  }

  /** What does not hold together is damaged, unless the thread took its values along between two statements. */
  async #whole<T>(thread: FoundThread, read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      await this.assertThere(thread);
      throw error;
    }
  }

  async #joiner(blob_space: string, refs: string[]): Promise<Join> {
    const hashes = new Set(refs.flatMap((ref) => hashesOf(ref)));
    const rows = await this.#storage.checkpoints.blobs(blob_space, [...hashes]);
    const blobs = new Map<string, BlobRow>(rows.map((row) => [row.hash, row]));
    return (ref) => joinWire(ref, (hash) => blobs.get(hash));
  }
}

const valuesOf = (stored: StoredCheckpoint, join: Join): unknown => {
  const channels = channelsOf(stored);
  const keys =
    shapeOf(stored)?.keys ?? Object.keys(channels).filter((channel) => !isInternalChannel(channel));
  if (typeof keys === 'string') return channels[keys] === undefined ? {} : join(channels[keys]);
  const values: Values = {};
  for (const key of keys) if (channels[key] !== undefined) values[key] = join(channels[key]);
  return values;
};

/** The snapshot of a thread that has no checkpoint yet. */
export const emptyState = (thread_id: string): ThreadState => ({
  values: {},
  next: [],
  tasks: [],
  interrupts: [],
  metadata: {},
  created_at: null,
  checkpoint: { thread_id, checkpoint_ns: '', checkpoint_id: null },
  parent_checkpoint: null,
  checkpoint_id: null,
  parent_checkpoint_id: null,
});

const toState = (stored: StoredCheckpoint, join: Join): ThreadState => {
  const { thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id, metadata, body } = stored.checkpoint;
  const at = (id: string) => ({ checkpoint_id: id, thread_id, checkpoint_ns });
  const tasks = (shapeOf(stored)?.tasks ?? []).map((task) => toTask(task, stored, join));
  return {
    values: valuesOf(stored, join),
    next: tasks.map((task) => task.name),
    tasks,
    interrupts: tasks.flatMap((task) => task.interrupts),
    metadata: {
      parents: {},
      ...(JSON.parse(metadata) as Values),
      thread_id,
      checkpoint_id,
      ...(run_id === null ? {} : { run_id }),
      writes: writesOf(stored, join),
    },
    created_at: (JSON.parse(body) as { ts: string }).ts,
    checkpoint: at(checkpoint_id),
    parent_checkpoint: parent_id === null ? null : at(parent_id),
    checkpoint_id,
    parent_checkpoint_id: parent_id,
  } as ThreadState;
};

/** Node to what it wrote to get here; for an input, `__start__` to the input. */
const writesOf = (stored: StoredCheckpoint, join: Join): Values | null => {
  const writes: Values = {};
  for (const [node, channel, ref] of wroteOf(stored)) {
    if (channel === null) writes[node] = join(ref);
    else writes[node] = { ...(writes[node] as Values | undefined), [channel]: join(ref) };
  }
  const input = channelsOf(stored)['__start__'];
  if (Object.keys(writes).length === 0 && input !== undefined) writes['__start__'] = join(input);
  return Object.keys(writes).length === 0 ? null : writes;
};

/** A task with what came of it so far: an error, interrupts, or a result. */
const toTask = (task: CheckpointShape['tasks'][number], stored: StoredCheckpoint, join: Join) => {
  const { id, name, path = usualPath(name), ns } = task;
  const own = stored.writes.filter((write) => write.task_id === id);
  const error = own.find((write) => write.channel === '__error__');
  const interrupts = own
    .filter((write) => write.channel === '__interrupt__')
    .flatMap((write) => [join(write.ref)].flat());
  const results = own.filter((write) => !isInternalChannel(write.channel));
  const isDone = !error && interrupts.length === 0 && results.length > 0;
  return {
    id,
    name,
    path,
    error: error ? messageOf(join(error.ref)) : null,
    interrupts,
    checkpoint: ns === undefined ? null : { thread_id: stored.checkpoint.thread_id, checkpoint_ns: ns },
    state: null,
    result: isDone ? Object.fromEntries(results.map((write) => [write.channel, join(write.ref)])) : null,
  };
};

const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
