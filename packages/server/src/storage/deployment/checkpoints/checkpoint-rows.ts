// Checkpoints, writes and blobs as rows, and the parameters and results of their storage functions.

/**
 * A checkpoint as stored; `metadata`, `body`, `channels`, `wrote` and `shape` are JSON text. `shape` is the checkpoint's summary
 * (`CheckpointSummary`).
 */
export interface CheckpointRow {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  run_id: string | null;
  metadata: string;
  body: string;
  channels: string;
  wrote: string | null;
  shape: string | null;
}

export interface WriteRow {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string;
  task_id: string;
  idx: number;
  channel: string;
  task_path: string | null;
  ref: string;
}

export interface BlobRow {
  hash: string;
  refs: string[] | null;
  payload: string | null;
}

/**
 * The writer of a flush: a run with the lease `lease_token`; or a state update of `thread_id`, on which no run may be in flight and
 * whose `removals` must not have changed since the update began.
 */
export interface Owner {
  owner: string;
  lease_token?: number;
  thread_id?: string;
  removals?: number;
  /** The flush contains the work of a node of the run, so the attempt is not charged if it is lost. */
  progress?: boolean;
  /** Ids of the inputs that the run of this flush has taken. */
  taken?: readonly string[];
}

/** How the end of a run (status set) or a state update (status null) changes its thread. */
export interface Ending {
  thread_id: string;
  status: string | null;
  /**
   * Of a run: `error`, `interrupted`, null for neither, or `as_stored` for what follows from the newest checkpoint. Of a state update: the
   * status of the thread, or null to leave it as it is.
   */
  ending: string | null;
  interrupts: string | null;
  error: string | null;
  /** JSON text: the stack of the error, if it has one. */
  stack?: string;
  /** Final values as wire JSON, for receivers that cannot read them from the thread. */
  values: string | null;
  /** True when the run's log contains the error already. */
  told: boolean;
}

/** Events for the log of a run. */
export interface LoggedEvents {
  first_id: number;
  last_id: number;
  /** Alternating lines: the name of an event, its data as JSON. */
  events: string;
  /** Events before this id are deleted from the log. */
  keep_from: number | null;
}

/** `found_head`: set on the first checkpoint of a run in a subgraph's namespace: the head before the run. */
export type NewCheckpoint = CheckpointRow & { found_head?: string };

/** `own`: the run of this write also created the checkpoint. When absent, commit_batch() looks up the checkpoint. */
export type NewWrite = WriteRow & { own?: true };

type Owned<T> = T & { owner: string };

/** One flush, stored in one transaction. For each owner, either everything or nothing is stored. */
export interface CheckpointBatch {
  owners: Owner[];
  heads: Owned<{
    thread_id: string;
    checkpoint_ns: string;
    checkpoint_id: string;
    expected: string | null;
  }>[];
  blobs: Owned<{ space: string } & BlobRow>[];
  checkpoints: Owned<NewCheckpoint>[];
  writes: Owned<NewWrite>[];
  /** Changes of stored checkpoints; null leaves a column as it is. */
  summaries: Owned<{
    thread_id: string;
    checkpoint_ns: string;
    checkpoint_id: string;
    shape: string | null;
    wrote: string | null;
  }>[];
  events: Owned<LoggedEvents>[];
  endings: Owned<Ending>[];
}

export interface CheckpointKey {
  thread_id: string;
  checkpoint_ns: string;
  /** The head of the namespace when absent. */
  checkpoint_id?: string | undefined;
}

/** What earlier attempts of a run have stored. */
export interface RunProgress {
  /** metadata.step of the head of the root namespace. */
  step: number;
  /** Root checkpoints of the run. */
  checkpoints: number;
  /** The root checkpoint at which the run has started. */
  start: string | null;
}

export interface HistoryQuery {
  thread_id: string;
  /** Every namespace when absent. */
  checkpoint_ns?: string | undefined;
  before?: string | undefined;
  limit?: number | undefined;
}

/** Root hashes of values, in a blob space. */
export interface BlobRoot {
  space: string;
  hashes: string[];
}

/** What the values of a thread's newest checkpoint are built from; empty for a thread without a checkpoint. */
export interface HeadValues {
  thread_id: string;
  space: string;
  channels: string;
  shape: string | null;
}

/** `run_id`: the run of the write, if another run made the checkpoint. */
export type StoredWrite = Pick<WriteRow, 'checkpoint_id' | 'task_id' | 'channel' | 'ref' | 'idx'> & {
  run_id?: string | null;
};

/** A stored checkpoint and its pending writes. */
export interface StoredCheckpoint {
  checkpoint: CheckpointRow;
  writes: StoredWrite[];
}
