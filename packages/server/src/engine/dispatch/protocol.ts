// Messages between the server process and its executor processes. Values of a graph are sent as JSON text, which the
// server process passes on without parsing it.
import type { Fault } from '@svc/contract/problem';
import type { Settings } from '../../config/settings/settings.ts';
import type { PythonLaunch } from '../../config/project/python.ts';
import type { StoreIndexConfig } from '../../config/project/store-index.ts';
import type { DatabaseOptions } from '../../storage/postgres/database.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { ItemCondition } from '../../storage/deployment/store/store-item-conditions.ts';
import type { ThreadImport } from '../../storage/deployment/threads/thread-imports.ts';

/**
 * Everything that an executor needs to execute one attempt of a run. Parts that may be large are sent as they were
 * stored: the executor parses the kwargs and merges the configs.
 */
export interface RunCommand extends Omit<ParsedRunCommand, 'config' | 'context' | 'kwargs'> {
  /** JSON text of RunKwargs. */
  kwargs: string;
  /** Configs of the assistant and of the thread. The config of the run is in its kwargs. */
  configs: (Record<string, unknown> | null)[];
  assistant_context: unknown;
  /** Keys of `configurable` that only the server sets. */
  server_keys: Record<string, unknown>;
}

/**
 * How the results of a run are delivered: the one description of these flags. They are set when an attempt starts; `listen` and
 * `unlisten` change them while it executes.
 *
 * A stream of the run on this node (`RunEventStream`) has `awaited` and `streamed` for its readers. Its `isFollowed` is true when
 * its events come from the run log, because the run executes elsewhere. What the log stores is `RunAudience`, in the row of the
 * run: `nothing`, `outcome` (a caller on another node waits) or `events` (another node reads events, or the run is resumable).
 */
export interface RunDelivery {
  /** A caller waits for the final values, which the executor sends with the outcome. Later callers read them from storage. */
  awaited: boolean;
  /** Events are created from the start; otherwise from the first `listen`. */
  streamed: boolean;
  /** Events are stored in the run log before they are sent to readers. */
  logged: boolean;
  /** The final values are stored with the outcome, for a webhook, or because a stateless run has no thread that keeps them. */
  values_kept: boolean;
}

/** One attempt of a run, in the form in which the executor executes it. */
export interface ParsedRunCommand extends RunDelivery {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  graph_id: string;
  attempt: number;
  lease_token: number;
  /** A stateless run: nothing is checkpointed. Its row is deleted when it ends, or with its log if it has one. */
  temporary: boolean;
  blob_space: string;
  /** Root head when the run was claimed; null for a thread without checkpoints; undefined when not known. */
  head?: string | null;
  /** config and context: assistant, thread and run merged, server keys added. */
  config: Record<string, unknown> & { configurable: Record<string, unknown> };
  context?: unknown;
  /** For requests of the graph to its own server. */
  credential?: string;
  metadata: Record<string, unknown>;
  /** Added to the metadata of every checkpoint of the run. */
  checkpoint_metadata: Record<string, unknown>;
  kwargs: RunKwargs;
  /** The first id of this attempt: ids continue over the attempts of a run. */
  first_event_id: number;
  /** Inputs wait that were sent into runs of the thread. */
  has_inputs: boolean;
}

/**
 * A stream mode of runs that thread protocol v2 starts, and no mode of the API: the id and the place of each checkpoint, without its values.
 */
export const checkpointRefs = 'checkpoint_refs';

/** The options of a run as stored in its row. */
export interface RunKwargs {
  input?: unknown;
  command?: { update?: unknown; resume?: unknown; goto?: unknown } | null;
  config?: Record<string, unknown>;
  context?: unknown;
  stream_mode: string[];
  stream_subgraphs: boolean;
  stream_resumable?: boolean;
  interrupt_before?: '*' | string[];
  interrupt_after?: '*' | string[];
  durability: 'sync' | 'async' | 'exit';
  checkpoint?: { checkpoint_id?: string; checkpoint_ns?: string; checkpoint_map?: Record<string, unknown> };
  [key: string]: unknown;
}

/** One update of a superstep: the `values` or the `command` that are attributed to the node. */
export interface StateUpdate {
  values?: unknown;
  /** Replaces `values` when the request contained them as JSON text. */
  values_text?: string;
  command?: unknown;
  as_node?: string | undefined;
}

export interface UpdateStateCommand {
  update_id: string;
  thread_id: string;
  graph_id: string;
  blob_space: string;
  /** The thread's count of removals when the update began. The update is rejected if it has changed since. */
  removals: number;
  config: Record<string, unknown> & { configurable: Record<string, unknown> };
  metadata: Record<string, unknown>;
  checkpoint: { checkpoint_id?: string; checkpoint_ns?: string };
  supersteps: StateUpdate[][];
}

export interface IntrospectCommand {
  graph_id: string;
  what: 'graph' | 'schemas' | 'subgraphs';
  config: Record<string, unknown>;
  xray?: boolean | number;
  namespace?: string;
  recurse?: boolean;
}

/** `index` of a put: paths; false for none; null or undefined for those of the configuration. */
export type ItemIndexing = false | readonly string[] | null | undefined;

/** A search of the store by meaning. */
export interface MeaningSearch extends ItemCondition {
  query: string;
  limit: number;
  offset: number;
}

/** Work for the index of the store, which needs the project's embedding model. */
export type StoreIndexCommand =
  /** Answered with ItemVectors or null. `value`: JSON text. */
  | { task: 'embed'; value: string; index: ItemIndexing }
  /** Answered with RankedItem[]. */
  | { task: 'rank'; search: MeaningSearch; access: RowFilter };

/** Where the file of a checkpointer has the checkpoints of one thread, and their writes. */
export interface ImportedFile {
  path: string;
  /** The file when it was scanned: `<bytes> <time of its last change>`. */
  version: string;
  checkpoints: [checkpoint_ns: string, checkpoint_id: string, start: number, end: number][];
  writes: [checkpoint_ns: string, checkpoint_id: string, start: number, end: number][];
}

/** Imports a thread from the files of the dev server of LangGraph.js. */
export interface ImportThreadCommand {
  thread: ThreadImport;
  /** Undefined when the next tasks of the checkpoints are not derived: the configuration does not have the graph of the thread. */
  graph_id: string | undefined;
  states: ImportedFile;
  /** Where the file of the runs has those of the thread. */
  runs: { path: string; version: string; parts: (readonly [start: number, end: number])[] };
}

export interface ImportThreadAnswer {
  /** `exists`: there is a thread with this id, and nothing was changed. */
  outcome: 'imported' | 'exists';
  checkpoints: number;
  runs: number;
  /** Runs that have not ended, which are not imported. */
  unfinished: { run_id: string; status: string }[];
  /** Checkpoints whose next tasks the graph could not derive, and its first error. */
  undescribed: { count: number; message: string };
}

/** Sent once, first. */
export interface ExecutorSetup {
  database: DatabaseOptions;
  graphs: [graph_id: string, source: { file: string; export: string }][];
  /** How the Python process of an executor is started; undefined for a project without Python files. */
  python?: PythonLaunch | undefined;
  /** Path of the tsconfig.json of the project, which its modules are loaded with. */
  tsconfig?: string | undefined;
  /** The project's environment (`env` of svc.json), for the graphs. */
  env: Record<string, string>;
  log: Settings['log'];
  /** Whether the executor sends the lines of its log to the server process too. */
  sendsLog?: boolean;
  /** Undefined when items are not searched by meaning. */
  storeIndex?: StoreIndexConfig | undefined;
  /** How runs are traced; undefined when they are not. */
  tracing?: TracingSetup;
}

/** What an executor found when it loaded the graphs. */
export interface LoadReport {
  /** Graphs that cannot be loaded. `message`: file, line, cause and remedy. */
  failures: { graph_id: string; message: string }[];
  /** For the operator: parts of graphs that are replaced, other versions of the engine. */
  notices: string[];
  /** Why the embedding model of the store cannot be loaded: file, line, cause and remedy. */
  store_index?: string;
}

export interface TracingSetup {
  project: string;
  /** Days for which traces are kept. */
  daysKept: number;
}

export type ToExecutor =
  | { kind: 'setup'; setup: ExecutorSetup }
  /** Where graphs reach the API of this server; null when it has none. */
  | { kind: 'address'; url: string | null }
  | { kind: 'run'; command: RunCommand }
  | { kind: 'cancel'; run_id: string; lease_token: number; why: StopReason }
  /** The run ends its attempt before its next superstep, if another attempt can continue it. */
  | { kind: 'drain'; run_id: string; lease_token: number }
  /** Inputs wait: the run takes them before its next superstep. */
  | { kind: 'inputs'; run_id: string; lease_token: number }
  /** The events have a reader from now on. `logged`: the reader is on another node and reads the log. */
  | { kind: 'listen'; run_id: string; lease_token: number; logged: boolean }
  /** The events have no reader any more. */
  | { kind: 'unlisten'; run_id: string; lease_token: number }
  /** Readers have consumed these bytes of events, or the wait for them timed out. */
  | { kind: 'ack'; run_id: string; lease_token: number; bytes: number }
  | { kind: 'update'; call: number; command: UpdateStateCommand }
  | { kind: 'introspect'; call: number; command: IntrospectCommand }
  | { kind: 'store_index'; call: number; command: StoreIndexCommand }
  /** Answered with an ImportThreadAnswer. */
  | { kind: 'import_thread'; call: number; command: ImportThreadCommand }
  /** Answered with a LoadReport when the modules of all graphs are loaded, or have failed to load. */
  | { kind: 'load'; call: number }
  /** Answered when all traces so far are stored, or could not be stored. */
  | { kind: 'flush'; call: number };

/** `lost`: the lease is lost, and everything that the attempt still does is ignored. */
export type StopReason = 'cancelled' | 'timeout' | 'lost';

export type RunStatus = 'success' | 'error' | 'interrupted' | 'timeout';

/** `repeated`: sent again. `split`: sent writer by writer. `failed`: the items of one writer are not stored. */
export type FlushTrouble = 'repeated' | 'split' | 'failed';

export type FromExecutor =
  | { kind: 'ready' }
  /** Absolute paths of modules of the project that were loaded, or that an import did not find. */
  | { kind: 'modules'; files: string[] }
  /** A line of its log. `dropped`: the number of lines before it that it has not sent. */
  | ({ kind: 'log' } & ExecutorLogLine)
  /** A flush was not stored with the first try. */
  | { kind: 'flush_trouble'; trouble: FlushTrouble }
  /** Sent every 200 ms while runs execute or calls are answered. */
  | ({ kind: 'event_loop' } & EventLoopReport)
  | AttemptMessage
  | { kind: 'answer'; call: number; value?: unknown; problem?: AnsweredProblem };

export interface ExecutorLogLine {
  line: string;
  dropped: number;
}

export interface EventLoopReport {
  /** Runs that execute. */
  running: number;
  /** Mean delay of its timers since the last report. */
  delayMs: number;
  /** Share of the time since the last report in which it did not wait, from 0 to 1. */
  utilization: number;
  /** More than three quarters of the heap are used. */
  isHeapFull: boolean;
  /** For how long the event loop of its Python process has not responded; 0 when it does. */
  silentMs: number;
}

export interface AnsweredProblem {
  code: string;
  message: string;
  faults?: Fault[];
}

/** A message about an attempt. */
export type AttemptMessage = { run_id: string; lease_token: number } & AttemptReport;

export type AttemptReport =
  /** `ack`: the number of bytes to acknowledge: those of this message and of earlier ones since the last `ack`. */
  | { kind: 'events'; first_id: number; events: [event: string, data: string][]; ack?: number }
  /** More events wait than may be buffered. From now on the events of the run are only in its log. */
  | { kind: 'log_only' }
  /**
   * The executor has aborted the graph, because something could not be stored. `error`: how the run ends when the graph does not stop;
   * null when another attempt follows.
   */
  | { kind: 'aborted'; error: RunError | null }
  /** The graph has ended after the abort signal. The outcome is stored next, and `done` or `lost` follows. */
  | { kind: 'graph_ended' }
  /**
   * The outcome is durable. `stack`: the stack of the error, for the log. `values`: the final values of an awaited run
   * as wire JSON; null when there are none.
   */
  | {
      kind: 'done';
      status: RunStatus;
      values?: string | null;
      error: RunError | null;
      stack?: string | undefined;
    }
  /** The attempt has ended before a superstep, as requested: everything so far is stored, and another attempt continues the run. */
  | { kind: 'drained' }
  /** The outcome could not be stored. `isOutage`: because of a database outage; otherwise usually because the lease was lost. */
  | { kind: 'lost'; message: string; isOutage: boolean };

export type EndReport = Extract<AttemptMessage, { kind: 'done' }>;

export interface RunError {
  error: string;
  message: string;
}

// Which interrupts the resume value of a command answers. The engine decides the same from the form of the value.

/** True when the resume value is an object with ids of interrupts as keys. The engine answers all interrupts with any other value, also with an empty object. */
export const hasInterruptIds = (resume: unknown): resume is Readonly<Record<string, unknown>> =>
  typeof resume === 'object' &&
  resume !== null &&
  Object.keys(resume).length > 0 &&
  Object.keys(resume).every((key) => /^[0-9a-f]{32}$/.test(key));
