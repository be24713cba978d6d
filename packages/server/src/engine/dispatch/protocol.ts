// What the server process and its executor processes say to each other. Values that a graph made travel as
// JSON text: the server process passes them on and never parses them.
import type { Settings } from '../../config/settings/settings.ts';
import type { DatabaseOptions } from '../../storage/postgres/database.ts';

/**
 * Everything an executor needs to run one attempt of a run. What may be large is as it was stored: the executor parses the kwargs
 * and merges the configs.
 */
export interface RunCommand extends Omit<ParsedRunCommand, 'config' | 'context' | 'kwargs'> {
  /** JSON text of RunKwargs. */
  kwargs: string;
  /** Of the assistant and of the thread; that of the run is in its kwargs. */
  configs: (Record<string, unknown> | null)[];
  assistant_context: unknown;
  /** Keys of `configurable` that only the server sets. */
  server_keys: Record<string, unknown>;
}

/** One attempt of a run, as the executor executes it. */
export interface ParsedRunCommand {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  graph_id: string;
  attempt: number;
  lease_token: number;
  /** A run without a thread: nothing is checkpointed, the row goes when it ends. */
  temporary: boolean;
  blob_space: string;
  /** Root head when the run was claimed; null for a thread without checkpoints; undefined when not known. */
  head?: string | null;
  /** config and context: assistant, thread and run merged, server keys added. */
  config: Record<string, unknown> & { configurable: Record<string, unknown> };
  context?: unknown;
  metadata: Record<string, unknown>;
  /** What every checkpoint of the run says of itself. */
  checkpoint_metadata: Record<string, unknown>;
  kwargs: RunKwargs;
  /** Whether someone waits for the final values; whoever comes later reads them from storage. */
  awaited: boolean;
  /** Whether events are sent from the start; otherwise from the moment that someone listens. */
  streamed: boolean;
  /** Whether events go to the run's log before anyone is told. */
  logged: boolean;
  /** Whether the final values are stored with the outcome: a webhook wants them, or there is no thread to read them from. */
  values_kept: boolean;
  /** Ids of events go on over the attempts of a run. */
  first_event_id: number;
}

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

/** One update of a superstep: what `values` or `command` a node is said to have written. */
export interface StateUpdate {
  values?: unknown;
  /** The values as JSON text, in place of `values`, where they came so. */
  values_text?: string;
  command?: unknown;
  as_node?: string | undefined;
}

export interface UpdateStateCommand {
  update_id: string;
  thread_id: string;
  graph_id: string;
  blob_space: string;
  /** Of the thread when the update began: refused when it has grown since. */
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

/** Sent once, first. */
export interface ExecutorSetup {
  database: DatabaseOptions;
  graphs: [graph_id: string, source: { file: string; export: string }][];
  /** The project's environment (`env` of svc.json), for the graphs. */
  env: Record<string, string>;
  log: Settings['log'];
  /** How runs are traced; undefined when they are not. */
  tracing?: TracingSetup;
}

export interface TracingSetup {
  project: string;
  /** Days for which traces are kept. */
  daysKept: number;
}

export type ToExecutor =
  | { kind: 'setup'; setup: ExecutorSetup }
  | { kind: 'run'; command: RunCommand }
  | { kind: 'cancel'; run_id: string; lease_token: number; why: StopReason }
  /** Someone reads the events from now on; somewhere else, if `logged`. */
  | { kind: 'listen'; run_id: string; lease_token: number; logged: boolean }
  /** Nobody reads the events any more. */
  | { kind: 'unlisten'; run_id: string; lease_token: number }
  /** Readers have taken these bytes of events, or are not waited for. */
  | { kind: 'ack'; run_id: string; lease_token: number; bytes: number }
  | { kind: 'update'; call: number; command: UpdateStateCommand }
  | { kind: 'introspect'; call: number; command: IntrospectCommand }
  /** Answered when the modules of all graphs are loaded, or cannot be. */
  | { kind: 'load'; call: number }
  /** Answered when everything that has been traced is stored, or cannot be. */
  | { kind: 'flush'; call: number };

/** `lost`: the lease has gone; nothing that the attempt still does counts. */
export type StopReason = 'cancelled' | 'timeout' | 'lost';

export type RunStatus = 'success' | 'error' | 'interrupted' | 'timeout';

export type FromExecutor =
  | { kind: 'ready' }
  /** Absolute paths of modules of the project that were loaded, or that an import did not find. */
  | { kind: 'modules'; files: string[] }
  | AttemptMessage
  | { kind: 'answer'; call: number; value?: unknown; problem?: { code: string; message: string } };

/** What an executor says of an attempt. */
export type AttemptMessage = { run_id: string; lease_token: number } &
  /** `ack`: bytes, sent with this message and before, that are to be acknowledged. */
  (
    | { kind: 'events'; first_id: number; events: [event: string, data: string][]; ack?: number }
    /** The run emits more than can be sent: from here on its events are in its log only. */
    | { kind: 'log_only' }
    /** The outcome is durable. `stack`: of the error, for the log. `values` is the wire JSON of the final values, for an awaited run; null when there are none. */
    | {
        kind: 'done';
        status: RunStatus;
        values?: string | null;
        error: RunError | null;
        stack?: string | undefined;
      }
    /** Its outcome is not stored. `isOutage`: because the database cannot do its work; else the lease has gone elsewhere. */
    | { kind: 'lost'; message: string; isOutage: boolean }
  );

export interface RunError {
  error: string;
  message: string;
}
