// Runs as rows, and the parameters and results of their storage functions.
import type { RowFilter } from '../../postgres/row-filter.ts';

/** The time at which the run `r` ended: it does not change afterwards. */
export const endedAt = `case when r.status not in ('pending', 'running') then r.updated_at end`;

/** Columns of a run in a list; JSON is text. */
const listColumns = {
  run_id: 'r.run_id',
  thread_id: 'r.thread_id',
  assistant_id: 'r.assistant_id',
  created_at: 'r.created_at',
  updated_at: 'r.updated_at',
  started_at: 'r.started_at',
  ended_at: endedAt,
  status: 'r.status',
  metadata: 'r.metadata::text',
  multitask_strategy: 'r.multitask_strategy',
  kwargs: 'r.kwargs',
  attempt: 'r.attempt',
  lost_attempts: 'r.lost_attempts::text',
  error: 'r.error',
  cancel_reason: 'r.cancel_reason',
};

/** The selected columns, and the id; `long` names those of any size. */
export const listed = (select: readonly string[] | undefined) => {
  const columns = Object.fromEntries(
    Object.entries(listColumns).filter(([name]) => name === 'run_id' || (select?.includes(name) ?? true)),
  );
  const long = ['metadata', 'kwargs', 'lost_attempts', 'error'].filter((name) => name in columns);
  return { columns, long };
};

export interface RunRow {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'interrupted';
  metadata: Record<string, unknown>;
  /** JSON text. */
  kwargs: string;
  multitask_strategy: string;
  temporary: boolean;
  /** JSON text. */
  error: string | null;
  /** JSON text; only when a single run is read. */
  error_stack?: string | null;
  /** What the log stores for receivers in other processes. */
  log: RunAudience;
  attempt: number;
  lease_token: number;
  /** The worker that holds the lease. */
  worker_id: string | null;
  lost_attempts: LostAttempt[];
  created_at: string;
  updated_at: string;
  /** The start of the newest attempt; null before the first one. */
  started_at: string | null;
  /** The time of its last change; null while it is pending or running. */
  ended_at: string | null;
  /** Null when the run was not cancelled. */
  cancel_reason: string | null;
}

/** What a run's log contains: nothing; the outcome; or all events and the outcome. */
export type RunAudience = 'nothing' | 'outcome' | 'events';

export interface LostAttempt {
  attempt: number;
  started_at: string;
  at: string;
  message: string;
  /** What its worker reported, when another worker had recorded the loss before. */
  reason?: string;
  charged: boolean;
  lease_token: number;
  /** State of the worker that held the lease. */
  worker: WorkerState;
}

/** `alive`: it has reported itself since the lease ended. `silent`: it has not. `gone`: its process has ended, or it is unknown. */
export type WorkerState = 'alive' | 'silent' | 'gone';

export interface NewRun {
  run_id: string;
  /** Null for a stateless run. */
  thread_id: string | null;
  assistant_id: string;
  metadata: Record<string, unknown>;
  kwargs: string;
  multitask_strategy: string;
  create_thread: boolean;
  /** Claim the run at once when its thread is free. */
  claim: boolean;
  leaseMs: number;
  delayMs: number;
  /** Null when the run is not claimed. */
  worker_id: string | null;
  /** What the log stores when the run does not start in this process. */
  log: RunAudience;
  /** The log stores all events, in whichever process the run executes. */
  resumable: boolean;
  webhook: string | null;
  /** The id may belong to an existing run, because of a repeated request. */
  keyed: boolean;
  /** Filters that the thread (existing or new) and the assistant must pass. */
  access: RowFilter;
  assistantAccess: RowFilter;
  /** The encrypted user of the run. */
  sealed_user: string | null;
  /** Graphs that this node executes; null allows a run of any graph. */
  graphs: readonly string[] | null;
  /** A run of another graph is accepted when a worker that executes the graph has reported itself within this time. */
  workerTtlMs: number;
  /** `state_updated_at` of the thread, for a run that answers interrupts: it is created only while the thread waits in that state. */
  answered_state_at: string | null;
  /** The run that takes the input of this one, if it is in flight. */
  input_of?: string | undefined;
}

/** A created run, with what an executor needs to know about its assistant and thread. */
export interface RunSetting {
  thread_id: string;
  status: 'pending' | 'running';
  lease_token: number;
  created_at: string;
  graph_id: string;
  assistant_config: Record<string, unknown>;
  assistant_context: unknown;
  assistant_metadata: Record<string, unknown>;
  blob_space: string | null;
  thread_config: Record<string, unknown> | null;
  thread_metadata: Record<string, unknown> | null;
  head: string | null;
  log: RunAudience;
  /** Inputs wait that were sent into runs of the thread. */
  has_inputs: boolean;
}

export type CreatedRun =
  /** `stopping`: running runs of the thread that are cancelled in favour of this one. */
  | ({ outcome: 'created'; stopping: string[] } & RunSetting)
  | { outcome: 'exists'; thread_id: string }
  /** `no_graph`: no node executes it. */
  | { outcome: 'no_graph'; graph_id: string }
  /**
   * `outside`: the thread or run that would be created would not pass its own filter. `answered`: the thread does not wait at the
   * interrupts that the run answers any more. Of an input of another run: `no_run`; `asked`: the thread waits for an answer; `full`: too many inputs wait.
   */
  | {
      outcome: 'no_assistant' | 'no_thread' | 'busy' | 'outside' | 'answered' | 'no_run' | 'asked' | 'full';
    };

export type CancelAction = 'interrupt' | 'rollback';

export interface Cancelled {
  run_id: string;
  /** `ended`: it was pending and has ended. `stopping`: its worker was notified. `over`: it had ended before. */
  outcome: 'ended' | 'stopping' | 'over';
}

/** Why a pending run waits. */
export interface Waiting {
  /** Earliest start; null when that time has passed. */
  not_before: string | null;
  /** The run on the thread that it waits for. */
  behind: string | null;
  /** The run is an input, and its thread waits for an answer. */
  awaits_answer: boolean;
  graph_id: string;
  /** Live workers that accept runs, and how many of them execute this graph. */
  workers: number;
  workers_of_graph: number;
}

/** A run in a list: columns that were not selected are absent, and JSON is text. */
export type ListedRun = Partial<
  Omit<RunRow, 'metadata' | 'lost_attempts'> & {
    metadata: string;
    lost_attempts: string;
  }
>;

/** A run and its position among the runs of its thread. */
export type PlacedRun = Pick<RunRow, 'run_id' | 'status' | 'created_at'>;

/** `has_log`: whether events of the run are stored. */
export type LoggedRun = PlacedRun & { has_log: boolean };

export type RunState = Pick<RunRow, 'run_id' | 'thread_id' | 'status' | 'error' | 'log' | 'temporary'>;

export const runColumns = `run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary, error, log,
  attempt, lease_token, worker_id, lost_attempts, created_at, updated_at, started_at,
  case when status not in ('pending', 'running') then updated_at end as ended_at, cancel_reason`;
