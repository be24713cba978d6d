// An exporter process: executes one export partition run, or one manifest, at a time. It holds no lease: the server process renews
// the lease and saves the outcome.
import { EgressGuard } from '../../net/guard.ts';
import { type Database, openDatabase, type Transactions } from '../../storage/postgres/database.ts';
import { ReplicaConnections } from '../../storage/replica/replica-connections.ts';
import { exportStepStorage, type ExportStepStorage } from '../../storage/exports/export-steps.ts';
import { openStore } from '../destinations/open-store.ts';
import { fileWriter } from '../parquet/write-file.ts';
import {
  type ExportCommand,
  type ExporterSetup,
  type ExportOutcome,
  type FromExporter,
  LeaseLost,
  type ManifestCommand,
  type PartitionRunCommand,
  type ReplicaFigures,
  type ToExporter,
} from './exporter-protocol.ts';
import { openParentChannel } from '../../jobs/process-channel.ts';
import { CommitProtocol, type Step } from './commit-protocol.ts';
import { toFailure } from './failure.ts';
import { type ManifestStep, writeManifest } from './manifest-writing.ts';
import { ExportReads } from '../../storage/replica/export-reads.ts';
import { primaryPosition, type PrimaryPosition } from '../../storage/replica/wal-position.ts';
import { retry } from '../../backoff.ts';
import { isUnavailable } from '../../storage/postgres/sql-state.ts';

export interface ExporterHooks {
  /** Awaited after each step of a partition run. */
  onStep?: (step: Step, command: PartitionRunCommand) => Promise<void> | void;
  onManifestStep?: (step: ManifestStep, command: ManifestCommand) => Promise<void> | void;
}

/** After the server process has ended, nobody renews the lease. The exporter then has this time to abort its upload. */
const orphanedMs = 2_000;

/** How the server process stops a command. */
class StopSignals {
  readonly #now = new AbortController();
  readonly #afterFile = new AbortController();

  get signal(): AbortSignal {
    return this.#now.signal;
  }

  get stopAfterFile(): AbortSignal {
    return this.#afterFile.signal;
  }

  stop(how: 'now' | 'after the file'): void {
    this.#afterFile.abort();
    if (how === 'now') this.#now.abort(new Error('The command was stopped'));
  }
}

interface Exporter {
  database: Database;
  replica: ExporterReplica | undefined;
  setup: ExporterSetup;
  hooks: ExporterHooks;
  send: (message: FromExporter) => void;
}

const execute = async (
  command: ExportCommand,
  { database, replica, setup, hooks, send }: Exporter,
  { signal, stopAfterFile }: StopSignals,
): Promise<ExportOutcome> => {
  const leases = retriedSteps(exportStepStorage(database), signal);
  let figures: ReplicaFigures | undefined;
  try {
    const pages = await openPageReads(database, command.kind === 'run' ? replica : undefined, signal);
    figures = pages.figures;
    if (command.kind === 'run' && !(await leases.startPartitionRun(command.lease))) return { kind: 'fenced' };
    const { allow, ...parts } = setup.stores;
    await using store = await openStore(command.target, { guard: new EgressGuard(allow), ...parts });
    if (command.kind === 'manifest') {
      const { onManifestStep: onStep } = hooks;
      await writeManifest({ command, store, leases, ...(onStep ? { onStep } : {}) }, signal);
      return { kind: 'done' };
    }
    const protocol = new CommitProtocol({
      command,
      store,
      leases,
      // When a page cannot be read, the whole file is written again.
      writeFile: retried(fileWriter(pages.reads), signal),
      onFile: (file) => send({ kind: 'file', ...file }),
      ...(hooks.onStep ? { onStep: hooks.onStep } : {}),
    });
    return (await protocol.run(signal, stopAfterFile)) ? { kind: 'done' } : { kind: 'stopped' };
  } catch (error) {
    if (error instanceof LeaseLost) return { kind: 'fenced' };
    return signal.aborted ? { kind: 'stopped' } : toFailure(error);
  } finally {
    if (figures) send({ kind: 'replica', ...figures });
  }
};

/** Executes commands of the server process until that ends or stops this one. */
export const serveExports = (hooks: ExporterHooks = {}): void => {
  let opened: Promise<Exporter> | undefined;
  let current: StopSignals | undefined;
  let executing: Promise<void> = Promise.resolve();

  const setUp = async (setup: ExporterSetup): Promise<Exporter> => ({
    database: await openDatabase({ ...setup.database, applicationName: 'svc exporter' }),
    replica: setup.replica && {
      connections: new ReplicaConnections({ ...setup.replica.database, applicationName: 'svc exporter' }),
      waitMs: setup.replica.waitMs,
    },
    setup,
    hooks,
    send,
  });
  const executeAndReport = async (command: ExportCommand): Promise<void> => {
    if (!opened) throw new Error('The exporter received a command before its setup');
    const signals = new StopSignals();
    current = signals;
    const outcome = await execute(command, await opened, signals);
    current = undefined;
    send({ kind: 'outcome', outcome });
  };

  const receive = (message: ToExporter): void => {
    if (message.kind === 'stop') return current?.stop(message.how);
    if (message.kind === 'execute') {
      executing = executeAndReport(message.command);
      return;
    }
    opened = setUp(message.setup);
    // If it rejects, Node prints the error and ends the process.
    void opened.then(() => send({ kind: 'ready' }));
  };

  const channel = openParentChannel({
    onMessage: (message) => receive(message as ToExporter),
    onClose: () => {
      current?.stop('now');
      setTimeout(() => process.exit(0), orphanedMs).unref();
      void executing.finally(() => process.exit(0));
    },
  });
  const send = (message: FromExporter): void => channel.send(message);
  // Service managers send signals to all processes of a service. Only the server process decides when exporters end.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
};

// Where the pages of one attempt of a partition run are read: the replica, if there is one and it has all rows, or the database.

export interface ExporterReplica {
  connections: ReplicaConnections;
  waitMs: number;
}

export interface PageReads {
  reads: Transactions;
  /** Undefined without a replica. */
  figures: ReplicaFigures | undefined;
}

/**
 * Call it after the attempt was claimed and before its start is recorded: the start is a commit, which flushes the position that the replica
 * has to reach. Otherwise the position might stay unflushed while the primary is idle.
 */
export const openPageReads = async (
  database: Database,
  replica: ExporterReplica | undefined,
  signal: AbortSignal,
): Promise<PageReads> => {
  if (replica === undefined) return { reads: database, figures: undefined };
  const figures: ReplicaFigures = { reads: 0, fallback: null };
  let start: PrimaryPosition;
  try {
    start = await retried(() => primaryPosition(database), signal)();
  } catch {
    signal.throwIfAborted();
    // For example, the role may not execute pg_control_system(). `svc doctor` reports that.
    figures.fallback = 'error';
    return { reads: database, figures };
  }
  const reads = new ExportReads({
    primary: database,
    replica: replica.connections,
    start,
    waitMs: replica.waitMs,
    onRead: () => (figures.reads += 1),
    onFallback: (reason) => (figures.fallback = reason),
    signal,
  });
  return { reads, figures };
};

// Repeats the database operations of an exporter while the database is unavailable. All of them are idempotent.

/**
 * `forMs` is longer than the default lease: usually the server process stops the exporter earlier, because its lease has ended. Errors are
 * not logged here: the outcome of the exporter has the last one.
 */
const times = { pauseMs: { first: 200, max: 400 }, forMs: 120_000 };

export const retried =
  <Args extends unknown[], T>(
    step: (...args: Args) => Promise<T>,
    signal: AbortSignal,
  ): ((...args: Args) => Promise<T>) =>
  (...args: Args): Promise<T> =>
    retry(() => step(...args), { ...times, when: isUnavailable, signal });

export const retriedSteps = (steps: ExportStepStorage, signal: AbortSignal): ExportStepStorage => ({
  startPartitionRun: retried((lease) => steps.startPartitionRun(lease), signal),
  beginFile: retried((...args) => steps.beginFile(...args), signal),
  commitFile: retried((...args) => steps.commitFile(...args), signal),
  skipFile: retried((...args) => steps.skipFile(...args), signal),
  holds: retried((lease) => steps.holds(lease), signal),
  files: retried((...args) => steps.files(...args), signal),
  completeExport: retried((...args) => steps.completeExport(...args), signal),
  hasEndedOtherwise: (lease) => steps.hasEndedOtherwise(lease),
});
