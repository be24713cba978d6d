// Selects the checkpoints that a thread needs to continue from its newest state: the head of the root namespace, heads of unfinished
// subgraphs, and the checkpoints from which values that are stored as changes (delta channels) are rebuilt.
import { isInternalChannel, summaryOf } from '../../engine/checkpoints/checkpoint-summary.ts';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';
import type { StoredCheckpoint } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { stateAtHead } from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { Ancestor, KeptCheckpoint, PruningStorage } from '../../storage/deployment/threads/pruning.ts';

interface Metadata {
  source?: string;
  step?: number;
  counters_since_delta_snapshot?: Record<string, unknown>;
}

/** Exceeds the number of changes after which the engine stores the whole value. */
const chainMax = 6_000;

const metadataOf = ({ metadata }: { metadata: string }): Metadata => JSON.parse(metadata) as Metadata;
const channelsOf = ({ channels }: { channels: string }): object => JSON.parse(channels) as object;

/** The remaining tasks of a checkpoint; undefined when they were not recorded. */
const tasksOf = (head: StoredCheckpoint): Set<string> | undefined => {
  const summary = summaryOf(stateAtHead(head).stored.checkpoint);
  return summary && new Set(summary.tasks.map(({ id }) => id));
};

/** The task in a segment `node:task` of a namespace. The segments of stateful subgraphs and of call counts have none. */
const taskIn = (segment: string): string | undefined => {
  const colon = segment.indexOf(':');
  return colon === -1 ? undefined : segment.slice(colon + 1);
};

export class NeededCheckpoints {
  readonly #thread_id: string;
  readonly #checkpoints: CheckpointStorage;
  readonly #pruning: PruningStorage;
  readonly #heads = new Map<string, Promise<StoredCheckpoint | undefined>>();

  constructor(thread_id: string, checkpoints: CheckpointStorage, pruning: PruningStorage) {
    this.#thread_id = thread_id;
    this.#checkpoints = checkpoints;
    this.#pruning = pruning;
  }

  async list(): Promise<KeptCheckpoint[]> {
    const root = await this.#head('');
    const tasks = root && tasksOf(root);
    const heads = await this.#pruning.listHeads(this.#thread_id, tasks ? [...tasks] : null);
    const kept: KeptCheckpoint[] = [];
    for (const head of heads) if (await this.#isNeeded(head)) kept.push(head);
    const ancestors = await Promise.all(kept.map((one) => this.#ancestors(one.checkpoint_ns)));
    return [...kept, ...ancestors.flat()];
  }

  #head(checkpoint_ns: string): Promise<StoredCheckpoint | undefined> {
    let head = this.#heads.get(checkpoint_ns);
    if (!head) {
      head = this.#checkpoints.find({ thread_id: this.#thread_id, checkpoint_ns });
      this.#heads.set(checkpoint_ns, head);
    }
    return head;
  }

  /** True when every task in the namespace still has to run. Also true when that is unknown. */
  async #isNeeded({ checkpoint_ns }: KeptCheckpoint): Promise<boolean> {
    const segments = checkpoint_ns.split('|');
    for (const [depth, segment] of segments.entries()) {
      const task = taskIn(segment);
      if (task === undefined) continue;
      // A task that a node started itself, instead of its graph, has a namespace below that of the node.
      const outer = await this.#head(segments.slice(0, depth).join('|'));
      if (outer && tasksOf(outer)?.has(task) === false) return false;
    }
    return true;
  }

  /** The ancestors down to those that contain the last complete value of each channel that the head stores as changes. */
  async #ancestors(checkpoint_ns: string): Promise<KeptCheckpoint[]> {
    const head = await this.#head(checkpoint_ns);
    if (!head) return [];
    const missing = missingChannels(head);
    if (missing.size === 0) return [];
    const { checkpoint_id } = head.checkpoint;
    const line = await this.#pruning.listAncestors(
      { thread_id: this.#thread_id, checkpoint_ns, checkpoint_id },
      chainMax,
    );
    const length = lengthNeeded([head.checkpoint, ...line], missing) - 1;
    return line.slice(0, Math.max(length, 0)).map((one) => ({
      checkpoint_ns,
      checkpoint_id: one.checkpoint_id,
    }));
  }
}

/** Channels that were written at some time and have no value in the checkpoint. */
const missingChannels = ({ checkpoint }: StoredCheckpoint): Set<string> => {
  const { channel_versions = {} } = JSON.parse(checkpoint.body) as { channel_versions?: object };
  const values = channelsOf(checkpoint);
  const names = Object.keys(channel_versions).filter((name) => !isInternalChannel(name));
  return new Set(names.filter((name) => !Object.hasOwn(values, name)));
};

type Link = Pick<Ancestor, 'metadata' | 'channels'>;

/** How many links, from the newest on, are needed for all channels that are stored as changes. */
const lengthNeeded = (line: Link[], missing: Set<string>): number => {
  let length = 0;
  for (const channel of missing) {
    if (!isKeptAsChanges(line, channel)) continue;
    const whole = line.findIndex((link) => Object.hasOwn(channelsOf(link), channel));
    length = Math.max(length, whole === -1 ? line.length : whole + 1);
  }
  return length;
};

/**
 * At every superstep the engine counts the changes of each delta channel since its last complete value. A channel without a count may
 * simply have no value. State updates are not counted; when there is no other information, assumes that the channel is stored as
 * changes.
 */
const isKeptAsChanges = (line: Link[], channel: string): boolean => {
  for (const link of line) {
    if (Object.hasOwn(channelsOf(link), channel)) return true;
    const { source, step = 0, counters_since_delta_snapshot: counts = {} } = metadataOf(link);
    if (Object.hasOwn(counts, channel)) return true;
    if (source === 'loop' && step >= -1) return false;
  }
  return true;
};
