// The saver of the oracle: that of the engine, without three of its faults, which the server does not have.
import { Command } from '@langchain/langgraph';
import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  emptyCheckpoint,
  MemorySaver,
} from '@langchain/langgraph-checkpoint';
import type { RunnableConfig } from '@langchain/core/runnables';

type Fields = Record<string, unknown>;
type Writes = MemorySaver['writes'][string];

/**
 * The engine's serializer reads a Command back as a plain object, which has no effect when a run is replayed from the command's checkpoint.
 * The server stores it as a Command, so the oracle does too.
 */
const keepingCommands = (): ConstructorParameters<typeof MemorySaver>[0] => {
  const { serde } = new MemorySaver();
  return {
    dumpsTyped: (value) => serde.dumpsTyped(value),
    loadsTyped: async (type, data) => withCommand(await serde.loadsTyped(type, data)),
  };
};

const withCommand = (stored: unknown): unknown => {
  const channels = (stored as { channel_values?: Fields } | null)?.channel_values;
  const start = channels?.['__start__'] as (Fields & { lg_name?: string }) | null | undefined;
  if (channels && start?.lg_name === 'Command') channels['__start__'] = new Command(start as never);
  return stored;
};

/** The task under which the engine stores what a command writes. */
export const commandTask = '00000000-0000-0000-0000-000000000000';

/** A checkpoint from which the value of a delta channel is rebuilt: its id, and the writes that its child has applied. */
interface Anchor {
  id: string;
  writes: Writes;
}

export class OracleSaver extends MemorySaver {
  /** How many runs have begun. */
  runs = 0;
  /** Reads are without what the commands of these runs have written. */
  hidden: ReadonlySet<number> = new Set();
  /** The runs of writes of commands, by the key of the checkpoint and that of the write. */
  readonly #commanded = new Map<string, number>();
  /** By the key of the child. */
  readonly #anchors = new Map<string, Anchor>();

  constructor() {
    super(keepingCommands());
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    if (this.hidden.size === 0 || checkpoint_id === undefined) return super.getTuple(config);
    const key = keyOf(thread_id, checkpoint_ns, checkpoint_id);
    const isShown = ([write]: [string, unknown]): boolean =>
      !this.hidden.has(this.#commanded.get(`${key} ${write}`) ?? 0);
    const shown = new MemorySaver(this.serde);
    shown.storage = this.storage;
    shown.writes = { [key]: Object.fromEntries(Object.entries(this.writes[key] ?? {}).filter(isShown)) };
    return shown.getTuple(config);
  }

  override async putWrites(
    ...[config, writes, task, path]: Parameters<MemorySaver['putWrites']>
  ): Promise<void> {
    const run = this.runs;
    await super.putWrites(config, writes, task, path);
    if (task !== commandTask) return;
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    const key = keyOf(thread_id, checkpoint_ns, checkpoint_id);
    for (const write of Object.keys(this.writes[key] ?? {}))
      if (write.startsWith(commandTask) && !this.#commanded.has(`${key} ${write}`))
        this.#commanded.set(`${key} ${write}`, run);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable as Record<string, string>;
    const id = checkpoint_id ?? this.#unstoredBefore(thread_id ?? '', checkpoint_ns, checkpoint.id);
    if (id !== undefined) {
      const writes = { ...this.writes[keyOf(thread_id, checkpoint_ns, id)] };
      this.#anchors.set(keyOf(thread_id, checkpoint_ns, checkpoint.id), { id, writes });
    }
    return super.put(config, checkpoint, metadata);
  }

  /**
   * The values of delta channels. The engine rebuilds them from the writes of all ancestors, and makes two mistakes:
   * 1. It replays all writes of a checkpoint for each of its children, also those that were stored after the child: an answer at an older
   *    checkpoint changes the states of the branch that had followed. Here a child gets the writes that were stored before it.
   * 2. It stores the delta writes of a command on an empty thread at a checkpoint that it never stores, and does not find them again.
   */
  override async getDeltaChannelHistory(options: Parameters<MemorySaver['getDeltaChannelHistory']>[0]) {
    const {
      thread_id,
      checkpoint_ns = '',
      checkpoint_id,
    } = options.config.configurable as Record<string, string>;
    const replayed = new MemorySaver(this.serde);
    const stored = { ...this.storage[thread_id ?? '']?.[checkpoint_ns] };
    replayed.storage = { [thread_id ?? '']: { [checkpoint_ns]: stored } };
    let child = checkpoint_id ?? Object.keys(stored).toSorted().at(-1);
    while (child !== undefined) {
      const anchor = this.#anchors.get(keyOf(thread_id, checkpoint_ns, child));
      if (anchor && !stored[anchor.id]) {
        const at = { configurable: { thread_id, checkpoint_ns } };
        await replayed.put(
          at,
          { ...emptyCheckpoint(), id: anchor.id },
          { source: 'loop', step: -2, parents: {} },
        );
        const [body, metadata] = stored[child] ?? [];
        if (body && metadata) stored[child] = [body, metadata, anchor.id];
      }
      if (anchor) replayed.writes[keyOf(thread_id, checkpoint_ns, anchor.id)] = anchor.writes;
      child = anchor?.id;
    }
    return replayed.getDeltaChannelHistory(options);
  }

  /** The newest checkpoint before this one that has writes, but was never stored. */
  #unstoredBefore(thread_id: string, checkpoint_ns: string, before: string): string | undefined {
    const ids = Object.keys(this.writes).map((key) => JSON.parse(key) as [string, string, string]);
    return ids
      .filter(([thread, ns]) => thread === thread_id && ns === checkpoint_ns)
      .map(([, , id]) => id)
      .filter((id) => id < before && !this.storage[thread_id]?.[checkpoint_ns]?.[id])
      .toSorted()
      .at(-1);
  }
}

const keyOf = (...parts: (string | undefined)[]): string => JSON.stringify(parts);
