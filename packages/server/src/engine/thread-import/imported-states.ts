// Makes rows of the checkpoints of one thread of another server: values become blobs, and the graph tells which tasks come next.
import { randomUUID } from 'node:crypto';
import type { CheckpointBatch } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { recordedWrite } from '../../storage/deployment/checkpoints/recorded-state.ts';
import {
  compactSummary,
  isInternalChannel,
  type CheckpointSummary,
  type NodeWrite,
} from '../checkpoints/checkpoint-summary.ts';
import { noItems } from '../checkpoints/commit-queue.ts';
import { SessionBlobs } from '../checkpoints/session-blobs.ts';
import { boundedError, messageOf } from '../codec/bounded-text.ts';
import { RefCache } from '../codec/ref-cache.ts';
import type { ValueCodec } from '../codec/value-codec.ts';
import type { Graph } from '../executor/graphs/graph-registry.ts';
import type { DescribedState } from '../checkpoints/checkpoint-records.ts';
import { describedState } from '../executor/state/state-summary.ts';
import type { CheckpointFiles, ReadCheckpoint } from './checkpoint-files.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import { withoutUser } from './imported-run.ts';

/** What a child of a checkpoint needs to know of it. */
interface Parent {
  versions: Record<string, unknown>;
  refs: Record<string, string>;
  tasks: CheckpointSummary['tasks'];
  writes: [task_id: string, channel: string, ref: string][];
}

/** The newest checkpoint of the root namespace. */
export interface RootHead {
  read: ReadCheckpoint;
  tasks: CheckpointSummary['tasks'];
}

/** The root heads when a run began and when it ended. */
interface RunHeads {
  found_head: string | null;
  final_head: string;
}

export class ImportedStates {
  readonly heads = new Map<string, string>();
  readonly runHeads = new Map<string, RunHeads>();
  readonly undescribed = { count: 0, message: '' };
  /** By run: keys of the metadata of its checkpoints that are not stored. Checkpoints of other runs keep only `engineKeys`. */
  readonly hiddenKeys = new Map<string, ReadonlySet<string>>();
  root: RootHead | undefined;
  checkpoints = 0;
  readonly #thread_id: string;
  readonly #graph: Graph | undefined;
  readonly #owner = randomUUID();
  readonly #blobs: SessionBlobs;
  #items = noItems();

  constructor(thread_id: string, codec: ValueCodec, graph: Graph | undefined) {
    this.#thread_id = thread_id;
    this.#graph = graph;
    this.#blobs = new SessionBlobs({ codec, cache: new RefCache(), blob_space: thread_id });
  }

  /** Encoded bytes that wait for `take`. */
  get pendingBytes(): number {
    return this.#blobs.pendingBytes;
  }

  /** Adds the checkpoints of a namespace. `onAdded` is called after each. */
  async addNamespace(files: CheckpointFiles, ns: string, onAdded: () => Promise<void>): Promise<void> {
    const parents = new Map<string, Parent>();
    for (const id of files.ids(ns)) {
      const read = await files.find(ns, id);
      if (!read) continue;
      const described = await this.#described(files, ns, id);
      const summary = described?.summary;
      const parent = read.parent_id === undefined ? undefined : parents.get(read.parent_id);
      parents.set(id, this.#add(ns, id, read, described, parent));
      this.heads.set(ns, id);
      if (ns === '') this.#recordRoot(id, read, summary);
      await onAdded();
    }
  }

  #recordRoot(id: string, read: ReadCheckpoint, summary: CheckpointSummary | undefined): void {
    this.root = { read, tasks: summary?.tasks ?? [] };
    const run_id = runOf(read);
    if (run_id === null) return;
    const found_head = this.runHeads.get(run_id)?.found_head ?? read.parent_id ?? null;
    this.runHeads.set(run_id, { found_head, final_head: id });
  }

  /** Undefined without the graph, and when the graph has changed so that it cannot describe the checkpoint. */
  async #described(files: CheckpointFiles, ns: string, id: string): Promise<DescribedState | undefined> {
    if (!this.#graph) return undefined;
    try {
      const key = { thread_id: this.#thread_id, checkpoint_ns: ns, checkpoint_id: id };
      return await describedState(this.#graph, key, files);
    } catch (error) {
      this.undescribed.count += 1;
      this.undescribed.message ||= messageOf(error);
      return undefined;
    }
  }

  #add(
    ns: string,
    id: string,
    { checkpoint, metadata, parent_id, writes }: ReadCheckpoint,
    described: DescribedState | undefined,
    parent: Parent | undefined,
  ): Parent {
    const summary = described?.summary;
    const { channel_values, id: own, ...body } = checkpoint;
    const refs: Record<string, string> = Object.create(null) as Record<string, string>;
    for (const [channel, value] of Object.entries(channel_values)) {
      const version = body.channel_versions[channel];
      const known = version !== undefined && parent?.versions[channel] === version;
      refs[channel] = (known ? parent.refs[channel] : undefined) ?? this.#blobs.encode(value, channel);
    }
    const key = { thread_id: this.#thread_id, checkpoint_ns: ns, checkpoint_id: id, owner: this.#owner };
    const run_id = runOf({ metadata });
    this.#items.checkpoints.push({
      ...key,
      parent_id: parent_id ?? null,
      run_id,
      metadata: JSON.stringify(metadataOf(metadata, this.hiddenKeys.get(run_id ?? ''))),
      body: JSON.stringify(own === id ? body : { ...body, id: own }),
      channels: JSON.stringify(refs),
      wrote: wroteOf(parent),
      shape: summary === undefined ? null : JSON.stringify(compactSummary(summary, Object.keys(refs))),
    });
    this.checkpoints += 1;
    const base = Object.entries(described?.values ?? {}).filter(([channel]) => !Object.hasOwn(refs, channel));
    if (base.length > 0) {
      const known = base.map(([channel, value]) => [channel, this.#blobs.encode(value, channel)] as const);
      this.#items.writes.push({ ...key, ...recordedWrite({ base: Object.fromEntries(known) }) });
    }
    const written: Parent['writes'] = [];
    for (const { task_id, idx, channel, value, task_path } of writes) {
      const ref = this.#blobs.encode(channel === '__error__' ? boundedError(value) : value, channel);
      written.push([task_id, channel, ref]);
      this.#items.writes.push({ ...key, task_id, idx, channel, task_path, ref });
    }
    return { versions: body.channel_versions, refs, tasks: summary?.tasks ?? [], writes: written };
  }

  /** The rows since the last call. */
  take({ isLast }: { isLast: boolean }): CheckpointBatch {
    const owner = this.#owner;
    const thread_id = this.#thread_id;
    const heads = isLast ? [...this.heads] : [];
    const batch = {
      ...this.#items,
      owners: [{ owner, thread_id }],
      blobs: this.#blobs.drain().map((blob) => ({ ...blob, owner })),
      heads: heads.map(([checkpoint_ns, checkpoint_id]) => ({
        owner,
        thread_id,
        checkpoint_ns,
        checkpoint_id,
        expected: null,
      })),
    };
    this.#items = noItems();
    return batch;
  }
}

const runOf = ({ metadata }: Pick<ReadCheckpoint, 'metadata'>): string | null => {
  const { run_id } = metadata as { run_id?: unknown };
  return isUuid(run_id) ? run_id : null;
};

/** Metadata that the engine and this server write. Whatever else a checkpoint has may be a value of `configurable`, which can be a secret. */
const engineKeys: ReadonlySet<string> = new Set([
  'source',
  'step',
  'parents',
  'counters_since_delta_snapshot',
  'delta_writes_versioned',
  'run_id',
  'thread_id',
  'graph_id',
  'assistant_id',
]);

/** `hidden`: undefined when the run of the checkpoint is unknown. Readers restore empty `parents`. */
const metadataOf = (
  metadata: ReadCheckpoint['metadata'],
  hidden: ReadonlySet<string> | undefined,
): object => {
  const isShown = (key: string): boolean => engineKeys.has(key) || hidden?.has(key) === false;
  const shown = Object.entries(withoutUser(metadata)).filter(([key]) => isShown(key));
  const { parents, ...rest } = Object.fromEntries(shown);
  const isEmpty = typeof parents !== 'object' || parents === null || Object.keys(parents).length === 0;
  return isEmpty ? rest : { ...rest, parents };
};

/** The writes of the tasks before a checkpoint that led to it. */
const wroteOf = (parent: Parent | undefined): string | null => {
  if (!parent) return null;
  const names = new Map(parent.tasks.map((task) => [task.id, task.name]));
  const wrote: NodeWrite[] = [];
  for (const [task_id, channel, ref] of parent.writes) {
    const name = names.get(task_id);
    if (name !== undefined && !isInternalChannel(channel)) wrote.push([name, channel, ref]);
  }
  return wrote.length > 0 ? JSON.stringify(wrote) : null;
};
