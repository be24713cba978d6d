// Reads the checkpoints and writes of one thread from the file of the dev server's checkpointer. The file has one entry for each checkpoint:
// [checkpoint, metadata, parent id], and one for the writes of each checkpoint: {"<task id>,<index>": [task id, channel, value, task path]}.
// Checkpoints, metadata and values are base64 of what the engine's serializer wrote.
import type { FileHandle } from 'node:fs/promises';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
} from '@langchain/langgraph-checkpoint';
import type { ImportedFile } from '../dispatch/protocol.ts';
import { messageOf } from '../codec/bounded-text.ts';
import { ListElements } from './list-elements.ts';
import { countJson, suspicious } from '../../json/count-json.ts';
import { isRecord } from '../../json/is-record.ts';
import { JsonBudget, type JsonLimits } from '../../json/json-limits.ts';
import { damagedPart, type FilePart, readPart } from './file-part.ts';

/** As deep as values that are stored. The engine's serializer is recursive. */
const limits: JsonLimits = {
  depthMax: 1_000,
  valuesMax: Infinity,
  keysMax: Infinity,
  madeBytesMax: Infinity,
};

/** Holds what the engine sends to several tasks. Before version 4 of checkpoints these were writes on the parent. */
const tasksChannel = '__pregel_tasks';

export interface ReadWrite {
  task_id: string;
  idx: number;
  channel: string;
  value: unknown;
  task_path: string | null;
}

export interface ReadCheckpoint {
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  parent_id: string | undefined;
  writes: ReadWrite[];
}

interface Place {
  checkpoint?: FilePart;
  writes?: FilePart;
}

/** A checkpointer that only reads, for the engine, which derives the next tasks of a checkpoint. */
export class CheckpointFiles extends BaseCheckpointSaver {
  readonly #file: ImportedFile;
  readonly #handle: FileHandle;
  readonly #places = new Map<string, Map<string, Place>>();
  readonly #elements = new ListElements(this.serde);
  /** The engine requests the checkpoint that was read last. */
  #last: { key: string; read: ReadCheckpoint } | undefined;

  constructor(file: ImportedFile, handle: FileHandle) {
    super();
    this.#file = file;
    this.#handle = handle;
    for (const [ns, id, start, end] of file.checkpoints) this.#place(ns, id).checkpoint = [start, end];
    for (const [ns, id, start, end] of file.writes) this.#place(ns, id).writes = [start, end];
  }

  #place(ns: string, id: string): Place {
    const ids = this.#places.get(ns) ?? new Map<string, Place>();
    this.#places.set(ns, ids);
    const place = ids.get(id) ?? {};
    ids.set(id, place);
    return place;
  }

  get namespaces(): string[] {
    return [...this.#places.keys()];
  }

  /** The ids of the checkpoints of a namespace, the oldest first. */
  ids(ns: string): string[] {
    const places = this.#places.get(ns) ?? new Map<string, Place>();
    return [...places].flatMap(([id, { checkpoint }]) => (checkpoint ? [id] : [])).toSorted();
  }

  /** Throws `invalid` with file and place when an entry is damaged. Undefined when the file has no such checkpoint. */
  async find(ns: string, id: string): Promise<ReadCheckpoint | undefined> {
    const key = `${ns} ${id}`;
    if (this.#last?.key === key) return this.#last.read;
    const place = this.#places.get(ns)?.get(id);
    if (!place?.checkpoint) return undefined;
    const read = await this.#read(ns, id, place.checkpoint, place.writes);
    this.#last = { key, read };
    return read;
  }

  async #read(ns: string, id: string, part: FilePart, writesPart?: FilePart): Promise<ReadCheckpoint> {
    const entry = await readPart(this.#file.path, this.#handle, part);
    if (!Array.isArray(entry) || entry.length < 2)
      throw this.#damaged(part, id, 'is not a list of a checkpoint, its metadata and its parent');
    const [text, metadataText, parent] = entry as unknown[];
    const checkpoint = (await this.#value(text, part, `checkpoint ${id}`, (json) =>
      this.#elements.read(json),
    )) as Checkpoint;
    const metadata = (await this.#value(metadataText, part, `the metadata of ${id}`)) as CheckpointMetadata;
    if (!isCheckpoint(checkpoint) || !isRecord(metadata))
      throw this.#damaged(part, id, 'lacks channel_values or channel_versions');
    const parent_id = typeof parent === 'string' && parent !== '' ? parent : undefined;
    if (checkpoint.v < 4 && parent_id !== undefined) await this.#moveSends(ns, parent_id, checkpoint);
    return { checkpoint, metadata, parent_id, writes: await this.#writes(writesPart) };
  }

  /** As the stock checkpointers do: checkpoints before version 4 have the sends among the writes of their parent. */
  async #moveSends(ns: string, parent_id: string, checkpoint: Checkpoint): Promise<void> {
    const writes = await this.#writes(this.#places.get(ns)?.get(parent_id)?.writes);
    const sends = writes.flatMap(({ channel, value }) => (channel === tasksChannel ? [value] : []));
    checkpoint.channel_values[tasksChannel] = sends;
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[tasksChannel] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #writes(part: FilePart | undefined): Promise<ReadWrite[]> {
    if (!part) return [];
    const entry = await readPart(this.#file.path, this.#handle, part);
    if (!isRecord(entry)) throw damagedPart(this.#file.path, part, 'the writes are not an object');
    const writes: ReadWrite[] = [];
    for (const [key, write] of Object.entries(entry)) {
      const [task_id, channel, text, path] = Array.isArray(write) ? (write as unknown[]) : [];
      const idx = Number(key.slice(key.lastIndexOf(',') + 1));
      if (typeof task_id !== 'string' || typeof channel !== 'string' || !Number.isInteger(idx))
        throw damagedPart(
          this.#file.path,
          part,
          `the write ${JSON.stringify(key)} has no task or no channel`,
        );
      const value = await this.#value(text, part, `the write ${JSON.stringify(key)}`);
      const task_path = typeof path === 'string' && path !== '' ? path : null;
      writes.push({ task_id, idx, channel, value, task_path });
    }
    return writes;
  }

  async #value(
    text: unknown,
    part: FilePart,
    name: string,
    read = (json: Buffer): Promise<unknown> => this.serde.loadsTyped('json', json),
  ): Promise<unknown> {
    if (typeof text !== 'string') throw damagedPart(this.#file.path, part, `${name} is not base64`);
    const json = Buffer.from(text, 'base64');
    if (countJson(json.toString('utf8'), new JsonBudget(limits)) === suspicious)
      throw damagedPart(this.#file.path, part, `${name} is nested more than ${limits.depthMax} levels deep`);
    try {
      return await read(json);
    } catch (cause) {
      throw damagedPart(this.#file.path, part, `${name} cannot be read: ${messageOf(cause)}`, cause);
    }
  }

  #damaged(part: FilePart, id: string, reason: string): Error {
    return damagedPart(this.#file.path, part, `checkpoint ${id} ${reason}`);
  }

  async getTuple({ configurable = {} }: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const ns = (configurable['checkpoint_ns'] ?? '') as string;
    const id = (configurable['checkpoint_id'] as string | undefined) ?? this.ids(ns).at(-1);
    const read = id === undefined ? undefined : await this.find(ns, id);
    if (!read) return undefined;
    const at = (checkpoint_id: string): RunnableConfig => ({
      configurable: { thread_id: configurable['thread_id'] as string, checkpoint_ns: ns, checkpoint_id },
    });
    return {
      config: at(read.checkpoint.id),
      checkpoint: read.checkpoint,
      metadata: read.metadata,
      pendingWrites: read.writes.map(({ task_id, channel, value }) => [task_id, channel, value]),
      ...(read.parent_id === undefined ? {} : { parentConfig: at(read.parent_id) }),
    };
  }

  // oxlint-disable-next-line require-yield -- the engine lists nothing for the state of one checkpoint
  async *list(): AsyncGenerator<CheckpointTuple> {
    throw new Error('The files of the dev server are read by checkpoint');
  }

  put(): Promise<RunnableConfig> {
    return Promise.reject(new Error('The files of the dev server are only read'));
  }

  putWrites(): Promise<void> {
    return Promise.reject(new Error('The files of the dev server are only read'));
  }

  deleteThread(): Promise<void> {
    return Promise.reject(new Error('The files of the dev server are only read'));
  }
}

const isCheckpoint = (value: unknown): value is Checkpoint =>
  isRecord(value) && isRecord(value['channel_values']) && isRecord(value['channel_versions']);
