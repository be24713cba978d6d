// Collects what one run (or one state update) writes to one thread, until a flush takes it. A checkpoint's summary is
// known only after its put, but is usually stored in the same row. A head moves once for each flush.
import type { Checkpoint, CheckpointMetadata, PendingWrite } from '@langchain/langgraph-checkpoint';
import type {
  BlobRow,
  Ending,
  NewWrite,
  Owner,
  StoredCheckpoint,
  StoredWrite,
} from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { type RecordedState, recordedWrite } from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { LargestValue } from './checkpoint-not-stored.ts';
import { checkNamespace } from './namespaces.ts';
import { OpenInterrupts } from './open-interrupts.ts';
import { SessionBlobs } from './session-blobs.ts';
import { StoredIds } from './checkpoint-ids.ts';
import { SessionInputs } from './session-inputs.ts';
import type { RecentBlobs } from './recent-blobs.ts';
import { SessionItems } from './session-items.ts';
import { appliesInput, isControl, isOfCommand, isWork, seedOf, writeIndex } from './task-writes.ts';
import { boundedError } from '../codec/bounded-text.ts';
import { RefCache } from '../codec/ref-cache.ts';
import type { ValueCodec } from '../codec/value-codec.ts';
import { noItems, type BatchItems, type Committer, type When, type Writer } from './commit-queue.ts';
import {
  type CheckpointPlace,
  commandedState,
  type CheckpointRecord,
  CheckpointRecords,
  type DescribedState,
  lostTask,
  namedWrites,
  placesOf,
  readyNodes,
  type RefsOf,
  type Report,
  type StateValues,
  type LoadedCheckpoint,
  type TaskWrite,
  waitingState,
} from './checkpoint-records.ts';
import { type NodeWrite, type SummaryTask, summaryText, writesText } from './checkpoint-summary.ts';

/** When more encoded bytes wait for a flush, a put waits for the flush too. */
const pendingBytesMax = 8 * 1024 * 1024;

export interface SessionOptions {
  owner: Owner;
  thread_id: string;
  blob_space: string;
  /** The root head when the session began; null for a thread without checkpoints; undefined when not known. */
  head: string | null | undefined;
  run_id: string | null;
  /** Added to the metadata of every checkpoint: graph_id, assistant_id, and the run's metadata. */
  metadata: Record<string, unknown>;
  /** Whether a put waits for its flush. */
  sync: boolean;
  /** Stores everything together with the end: nothing is stored before. */
  isAtomic?: boolean;
  committer: Committer;
  codec: ValueCodec;
  /** Shared by the sessions of an executor. */
  recent: RecentBlobs;
  /** Called once when a flush that no caller awaits has failed. */
  onFailure: (error: Error) => void;
}

export class ThreadSession implements Writer {
  readonly owner: Owner;
  readonly thread_id: string;
  readonly codec: ValueCodec;
  readonly cache = new RefCache();
  readonly #options: SessionOptions;
  readonly #items = new SessionItems();
  readonly #blobs: SessionBlobs;
  #inFlight: Promise<void> = Promise.resolve();
  /** Heads by namespace: `#storedHeads` as stored, `#heads` as moved by this session. */
  readonly #storedHeads = new Map<string, string | null>();
  readonly #heads = new Map<string, string>();
  readonly storedIds = new StoredIds();
  /** By namespace. */
  readonly #records = new Map<string, CheckpointRecords>();
  /** By namespace: tasks of the loaded checkpoint that had finished, and whether this run finished them, in an earlier attempt. */
  readonly #finished = new Map<string, ReadonlyMap<string, boolean>>();
  readonly openInterrupts = new OpenInterrupts();
  #attributed: NodeWrite[] | undefined;
  /**
   * Whether a node of the root graph has finished. `pending`: its writes wait. `drained`: a flush has them. `reported`:
   * that flush is marked as progress.
   */
  #progress: 'none' | 'pending' | 'drained' | 'reported' = 'none';
  /** Why items of this session are not stored. It stores nothing any more. */
  #failure: Error | undefined;
  #isFailureReported = false;
  /** Inputs that were sent into the run. */
  readonly inputs = new SessionInputs((...writes) => this.#watch(this.putWrites(...writes)));
  #last: { step: number; onReached: () => void } | undefined;
  #isSealed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.owner = options.owner;
    this.thread_id = options.thread_id;
    this.codec = options.codec;
    this.#blobs = new SessionBlobs({ ...options, cache: this.cache });
    if (options.head !== undefined) this.#storedHeads.set('', options.head);
  }

  get blob_space(): string {
    return this.#options.blob_space;
  }

  get run_id(): string | null {
    return this.#options.run_id;
  }

  /** True while storage has no checkpoint of this namespace: the thread is new, and this session has put none. */
  isBlank(ns: string): boolean {
    return this.#storedHeads.get('') === null && !this.#heads.has(ns);
  }

  /** The newest checkpoint of the namespace, as far as this session knows. */
  head(ns: string): string | null | undefined {
    return this.#heads.get(ns) ?? this.#storedHeads.get(ns);
  }

  /** True until a checkpoint of the namespace was recorded or put. */
  beginsIn(ns: string): boolean {
    return this.#recordsOf(ns).newest === undefined;
  }

  /** Records the head that was read from storage. */
  recordHead(ns: string, checkpoint_id: string | null): void {
    if (!this.#storedHeads.has(ns)) this.#storedHeads.set(ns, checkpoint_id);
  }

  /** Records a loaded checkpoint, from which this run continues: its channels need not be encoded again, its finished tasks not run again. */
  recordLoaded(ns: string, loaded: LoadedCheckpoint): void {
    const { checkpoint_id, step, versions, shape, recorded } = loaded;
    const refs = Object.entries(loaded.refs).map(
      ([channel, ref]) => [channel, { version: versions[channel], ref }] as const,
    );
    const writes = loaded.writes.map(({ task_id, channel, ref }): TaskWrite => [task_id, channel, ref]);
    const record = this.#recordsOf(ns).put(checkpoint_id, step, new Map(refs));
    Object.assign(record, { writes, shape, recorded, seed: seedOf(loaded) });
    const results = loaded.writes.filter(({ channel }) => !isControl(channel));
    const isOwn = ({ run_id }: StoredWrite): boolean =>
      this.run_id !== null && (run_id ?? loaded.made_by) === this.run_id;
    this.#finished.set(ns, new Map(results.map((write) => [write.task_id, isOwn(write)])));
  }

  /** References of the values of delta channels at a loaded checkpoint, before the command of this run. */
  seed(ns: string, checkpoint_id: string): RecordedState['base'] | undefined {
    return this.#recordsOf(ns).find(checkpoint_id)?.seed;
  }

  recordBlobs(blobs: readonly BlobRow[]): void {
    this.#blobs.record(blobs);
  }

  #recordsOf(ns: string): CheckpointRecords {
    const records = this.#records.get(ns) ?? new CheckpointRecords();
    this.#records.set(ns, records);
    return records;
  }

  /** Encodes the values now, because the graph may change its objects afterwards. Stores them with the next flush. */
  async put(
    ns: string,
    parent: string | undefined,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<string> {
    if (this.#failure) throw this.#failure;
    if (this.#isSealed) return checkpoint.id;
    checkNamespace(ns);
    const parent_id = parent === undefined ? undefined : this.storedIds.of(parent);
    const checkpoint_id = this.storedIds.assign(ns, checkpoint.id, parent_id);

    const { channel_values, id, ...body } = checkpoint;
    const records = this.#recordsOf(ns);
    const previous = records.newest?.checkpoint_id === parent_id ? records.newest?.refs : undefined;
    const refs = new Map<string, { version: unknown; ref: string }>();
    for (const channel of Object.keys(channel_values)) {
      const version = body.channel_versions[channel];
      const known = previous?.get(channel);
      const same = known !== undefined && known.version === version && version !== undefined;
      refs.set(
        channel,
        same ? known : { version, ref: this.#blobs.encode(channel_values[channel], channel) },
      );
    }
    const record = records.put(checkpoint_id, metadata.step, refs, readyNodes(channel_values));
    const wrote = this.#attributed ?? records.wrote(parent_id, checkpoint_id, metadata.step);
    this.#attributed = undefined;
    const found = ns === '' || this.#heads.has(ns) ? undefined : this.#storedHeads.get(ns);
    this.#items.addCheckpoint({
      thread_id: this.thread_id,
      checkpoint_ns: ns,
      checkpoint_id,
      parent_id: parent_id ?? null,
      run_id: this.#options.run_id,
      metadata: JSON.stringify(this.storedIds.withParents({ ...this.#options.metadata, ...metadata })),
      body: JSON.stringify(id === checkpoint_id ? body : { ...body, id }),
      channels: JSON.stringify(Object.fromEntries([...refs].map(([channel, { ref }]) => [channel, ref]))),
      wrote: writesText(wrote),
      shape: null,
      ...(found ? { found_head: found } : {}),
    });
    if (ns === '') this.openInterrupts.begin(checkpoint_id);
    this.#finished.delete(ns);
    this.#heads.set(ns, checkpoint_id);
    this.#storeSummary(ns, record);
    if (this.#last && ns === '' && metadata.step >= this.#last.step) {
      this.#isSealed = true;
      this.#last.onReached();
    }
    await this.#commit();
    return checkpoint_id;
  }

  async putWrites(
    ns: string,
    checkpoint: string,
    writes: PendingWrite[],
    task_id: string,
    task_path?: string,
  ): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#isSealed) return;
    if (this.inputs.hold([ns, checkpoint, writes, task_id, task_path])) return;
    checkNamespace(ns);
    const checkpoint_id = this.storedIds.assignEarly(ns, checkpoint, this.head(ns));
    if (ns === '' && this.#progress === 'none' && isWork(writes, task_id, this.nextTasks('')))
      this.#progress = 'pending';
    const record = this.#recordsOf(ns).of(checkpoint_id);
    if (ns === '') this.openInterrupts.add(checkpoint_id, task_id, writes);
    const own = this.#heads.get(ns) === checkpoint_id ? { own: true as const } : {};
    // All values are encoded before one is added: the writes of a task are stored together, or not at all.
    const refs = writes.map(([channel, value]) =>
      this.#blobs.encode(channel === '__error__' ? boundedError(value) : value, channel),
    );
    for (const [position, [channel]] of writes.entries()) {
      const ref = refs[position] as string;
      record.writes.push([task_id, channel, ref]);
      if (isOfCommand(task_id, channel)) record.isCommanded = true;
      this.#items.addWrite({
        thread_id: this.thread_id,
        checkpoint_ns: ns,
        checkpoint_id,
        task_id,
        idx: writeIndex(channel, position),
        channel,
        task_path: task_path ?? null,
        ref,
        ...own,
      });
    }
    await this.#commit();
  }

  readonly takenInputs = (): readonly string[] | undefined => this.inputs.drained;
  /** True when nothing was written to the newest root checkpoint, and its superstep does not apply the input of the run. */
  get isBeforeSuperstep(): boolean {
    const isUnwritten = this.#recordsOf('').find(this.head('') ?? '')?.writes.length === 0;
    return isUnwritten && !appliesInput(this.nextTasks(''));
  }

  /**
   * Records the summary of a checkpoint, before or after its put. `values`: those of its state that may be missing in its channels, because
   * the checkpoint has changes of them. Returns a task of a loaded checkpoint that the report lacks.
   */
  describe(ns: string, report: Report): SummaryTask | undefined {
    const record = this.#recordsOf(ns).report(report);
    if (!record) return undefined;
    const { unnamed } = record;
    const wrote = unnamed === undefined ? null : writesText(namedWrites(record));
    if (unnamed !== undefined && wrote !== null) this.#amend(ns, unnamed, { wrote });
    this.#storeSummary(ns, record);
    return lostTask(record);
  }

  /** Stores the summary once the checkpoint was both put and described. */
  #storeSummary(ns: string, record: CheckpointRecord): void {
    const { checkpoint_id, refs, summary, values = {} } = record;
    if (!refs || !summary) return;
    record.values = undefined;
    if (typeof record.shape === 'string') return;
    const missing = Object.entries(values).filter(([channel]) => !refs.has(channel));
    const base = this.#refsOf(Object.fromEntries(missing));
    if (missing.length > 0) this.#recordState(ns, record, { base });
    this.#amend(ns, checkpoint_id, { shape: summaryText(summary, refs.keys(), missing.length > 0) });
  }

  /** Changes a checkpoint that was put. */
  #amend(ns: string, checkpoint_id: string, change: { shape?: string; wrote?: string }): void {
    // The flush of the checkpoint has begun, as always with durability `sync`. Readers need the tasks while these run.
    const of = { thread_id: this.thread_id, checkpoint_ns: ns, checkpoint_id };
    if (!this.#items.amend(of, change)) this.#watch(this.#send('soon'));
  }

  /** References of the values, without those that are `known`. */
  readonly #refsOf: RefsOf = (values, known) => {
    const refs = Object.entries(values).map(
      ([channel, value]) => [channel, this.#blobs.encode(value, channel)] as const,
    );
    return Object.fromEntries(refs.filter(([channel, ref]) => known?.(channel) !== ref));
  };

  #recordState(ns: string, record: CheckpointRecord, state: RecordedState): void {
    if (JSON.stringify(record.recorded) === JSON.stringify(state)) return;
    record.recorded = state;
    const { checkpoint_id } = record;
    this.#items.addWrite({
      thread_id: this.thread_id,
      checkpoint_ns: ns,
      checkpoint_id,
      ...recordedWrite(state),
      ...(this.#heads.get(ns) === checkpoint_id ? { own: true as const } : {}),
    });
  }

  /** An earlier attempt has written the command of the run to this root checkpoint. */
  markCommanded(checkpoint_id: string): void {
    this.#recordsOf('').of(checkpoint_id).isCommanded = true;
  }

  /** Checkpoints to which a command of this run has written. */
  commanded(): CheckpointPlace[] {
    return placesOf(this.#records, (records) => records.commanded());
  }

  /** The newest checkpoint of each namespace, if its superstep is unfinished and a task or a command has written. */
  waiting(): CheckpointPlace[] {
    return placesOf(this.#records, (records) => [records.waiting() ?? []].flat()).filter(
      ({ checkpoint_ns, checkpoint_id }) => checkpoint_id === this.head(checkpoint_ns),
    );
  }

  /** Records the state of a checkpoint to which a command has written. */
  recordCommand({ checkpoint_ns, checkpoint_id }: CheckpointPlace, state: DescribedState): void {
    const record = this.#recordsOf(checkpoint_ns).of(checkpoint_id);
    this.#recordState(checkpoint_ns, record, commandedState(record, state, this.#refsOf));
  }

  /** Records it while the superstep executes, for readers. */
  reportCommand(place: CheckpointPlace, state: DescribedState): void {
    this.recordCommand(place, state);
    this.#watch(this.#send('soon'));
  }

  /** Records the state of a superstep that waits: the values with what its tasks have written, and the nodes that are left to run. */
  recordWaiting({ checkpoint_ns, checkpoint_id }: CheckpointPlace, head: StateValues, next: string[]): void {
    const record = this.#recordsOf(checkpoint_ns).of(checkpoint_id);
    this.#recordState(checkpoint_ns, record, waitingState(record, head, next, this.#refsOf));
  }

  /** Whether tasks of this name in the next step had finished when this attempt began: by this run, or all by earlier runs. */
  finishedBy(ns: string, name: string): 'this run' | 'earlier runs' | undefined {
    const finished = this.#finished.get(ns);
    if (finished === undefined) return undefined;
    const ids = this.nextTasks(ns).flatMap((task) => (task.name === name ? [task.id] : []));
    if (ids.some((id) => finished.get(id) === true)) return 'this run';
    return ids.some((id) => finished.has(id)) ? 'earlier runs' : undefined;
  }

  /** The checkpoints that this session has put, and that have no summary yet, or one without all tasks. */
  undescribed(): CheckpointPlace[] {
    return placesOf(this.#records, (records) => records.undescribed());
  }

  /** The checkpoints to which this session has moved the heads. */
  moved(): CheckpointPlace[] {
    return [...this.#heads].map(([checkpoint_ns, checkpoint_id]) => ({ checkpoint_ns, checkpoint_id }));
  }

  /** The tasks that are left to run, from the newest summary of the namespace. */
  nextTasks(ns: string): SummaryTask[] {
    return this.#recordsOf(ns).described?.summary?.tasks ?? [];
  }

  /** Interrupts by task id, as wire JSON; null when no root checkpoint was loaded or created. */
  interrupts(): string | null {
    const { checkpoint_id } = this.openInterrupts;
    // A run from an older checkpoint may have stored none, and then only the tasks of the older one are described.
    const record = checkpoint_id === undefined ? undefined : this.#recordsOf('').find(checkpoint_id);
    const open = this.openInterrupts.ofTasks(record?.summary?.tasks);
    return open === undefined ? null : this.codec.toJson(Object.fromEntries(open));
  }

  /** Attributes the next put to these nodes, instead of to its tasks. For state updates, which put in one namespace. */
  attribute(values: { as_node: string; values: unknown }[]): void {
    this.#attributed = values.map(({ as_node, values: written }) => [
      as_node,
      null,
      this.#blobs.encode(written, as_node),
    ]);
  }

  /** After the root checkpoint of this step, only the end of the run is stored. `onReached` is called once, at that checkpoint. */
  endAfter(step: number, onReached: () => void): void {
    this.#last = { step, onReached };
  }

  /** Ends the run (or update): stores the remaining items together with the outcome, and waits for that. */
  async end(ending: Omit<Ending, 'thread_id'>): Promise<void> {
    this.#items.addEnding({ thread_id: this.thread_id, ...ending });
    await this.flush();
  }

  /** Stores the pending items, and resolves when all items of this session are stored. */
  async flush(): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#options.isAtomic === true && !this.#items.hasEnding) return;
    if (!this.#items.isEmpty) this.#inFlight = this.#options.committer.commit(this);
    await this.#stored(this.#inFlight);
  }

  /** A checkpoint that was put and that no flush has taken yet, with its writes. */
  pendingCheckpoint(ns: string, checkpoint_id: string): StoredCheckpoint | undefined {
    return this.#items.find(ns, checkpoint_id);
  }

  /** Writes of a checkpoint that no flush has taken yet. */
  pendingWrites(ns: string, checkpoint_id: string): NewWrite[] {
    return this.#items.writesOf(ns, checkpoint_id);
  }

  findBlob(hash: string): BlobRow | undefined {
    return this.#blobs.find(hash);
  }

  drain(): BatchItems {
    if (this.#failure) return noItems();
    const items = this.#items.take();
    items.blobs = this.#blobs.drain();
    this.inputs.drain();
    if (this.#progress === 'pending') this.#progress = items.endings.length > 0 ? 'reported' : 'drained';
    for (const [checkpoint_ns, checkpoint_id] of this.#heads) {
      const expected = this.#storedHeads.get(checkpoint_ns) ?? null;
      if (expected === checkpoint_id) continue;
      items.heads.push({ thread_id: this.thread_id, checkpoint_ns, checkpoint_id, expected });
      this.#storedHeads.set(checkpoint_ns, checkpoint_id);
    }
    return items;
  }

  /** After an error all further items are dropped: they depend on those that were not stored. */
  settled(error: Error | undefined): void {
    if (!error || this.#failure) return;
    this.#failure = error;
    this.#items.take();
    this.#blobs.drain();
  }

  largest(): LargestValue | undefined {
    return this.#blobs.largestDrained;
  }

  /** True when items of this session could not be stored. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Ignores further checkpoints and writes. Those that wait are stored, with their events. */
  seal(): void {
    this.#isSealed = true;
  }

  /** True once in an attempt. A flush that ends the run need not be marked. */
  takeProgress(): boolean {
    if (this.#progress !== 'drained') return false;
    this.#progress = 'reported';
    return true;
  }

  /** Waits for the flush with durability `sync`, or when more than `pendingBytesMax` bytes wait. */
  async #commit(): Promise<void> {
    if (this.#options.isAtomic === true) return;
    const isAwaited = this.#options.sync || this.#blobs.pendingBytes > pendingBytesMax;
    const flushed = this.#send(isAwaited ? 'now' : 'soon');
    if (isAwaited) return this.#stored(flushed);
    this.#watch(flushed);
  }

  /** Items that were added during a flush that failed are dropped, so the next flush has nothing to store. */
  async #stored(flushed: Promise<void>): Promise<void> {
    await flushed;
    if (this.#failure) throw this.#failure;
  }

  #send(when: When): Promise<void> {
    this.#inFlight = this.#options.committer.commit(this, when);
    return this.#inFlight;
  }

  /** Reports the failure of a flush that no caller awaits. */
  #watch(flushed: Promise<void>): void {
    flushed.catch((error: Error) => {
      this.settled(error);
      if (this.#isFailureReported) return;
      this.#isFailureReported = true;
      this.#options.onFailure(error);
    });
  }
}
