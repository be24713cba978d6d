// An exporter process: executes one export partition run, or one manifest, at a time. It holds no lease: the server process renews
// the lease and saves the outcome.
import { EgressGuard } from '../../net/guard.ts';
import { openDatabase, type Database } from '../../storage/postgres/database.ts';
import { exportStepStorage } from '../../storage/exports/export-steps.ts';
import { openStore } from '../destinations/open-store.ts';
import { fileWriter } from '../parquet/write-file.ts';
import type {
  ExporterSetup,
  ExportCommand,
  ExportOutcome,
  FromExporter,
  PartitionRunCommand,
  ManifestCommand,
  ToExporter,
} from './exporter-protocol.ts';
import { openParentChannel } from '../../jobs/process-channel.ts';
import { CommitProtocol, type Step } from './commit-protocol.ts';
import { toFailure } from './failure.ts';
import { LeaseLost } from './lease-lost.ts';
import { type ManifestStep, writeManifest } from './manifest-writing.ts';
import { retried, retriedSteps } from './retried-steps.ts';

export interface ExporterHooks {
  /** Awaited after each step of a run. */
  onStep?: (step: Step, command: PartitionRunCommand) => Promise<void> | void;
  onManifestStep?: (step: ManifestStep, command: ManifestCommand) => Promise<void> | void;
}

/** Time to abort uploads when the server process has ended, which renews the lease. */
const orphanedMs = 2_000;

class Work {
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
    if (how === 'now') this.#now.abort(new Error('The work was stopped'));
  }
}

interface Exporter {
  database: Database;
  setup: ExporterSetup;
  hooks: ExporterHooks;
  send: (message: FromExporter) => void;
}

const carryOut = async (
  command: ExportCommand,
  { database, setup, hooks, send }: Exporter,
  work: Work,
): Promise<ExportOutcome> => {
  const { signal, stopAfterFile } = work;
  const leases = retriedSteps(exportStepStorage(database), signal);
  try {
    if (command.kind === 'run' && !(await leases.startPartitionRun(command.lease))) return { kind: 'fenced' };
    const { allow, ...parts } = setup.surroundings;
    await using store = openStore(command.target, { guard: new EgressGuard(allow), ...parts });
    if (command.kind === 'manifest') {
      const { onManifestStep: onStep } = hooks;
      await writeManifest({ command, store, leases, ...(onStep ? { onStep } : {}) }, signal);
      return { kind: 'done' };
    }
    const protocol = new CommitProtocol({
      command,
      store,
      leases,
      // A page that cannot be read starts the file anew.
      writeFile: retried(fileWriter(database), signal),
      onFile: (file) => send({ kind: 'file', ...file }),
      ...(hooks.onStep ? { onStep: hooks.onStep } : {}),
    });
    return (await protocol.run(signal, stopAfterFile)) ? { kind: 'done' } : { kind: 'stopped' };
  } catch (error) {
    if (error instanceof LeaseLost) return { kind: 'fenced' };
    return signal.aborted ? { kind: 'stopped' } : toFailure(error);
  }
};

/** Executes commands of the server process until that ends or stops this one. */
export const serveExports = (hooks: ExporterHooks = {}): void => {
  let opened: Promise<Exporter> | undefined;
  let work: Work | undefined;
  let working: Promise<void> = Promise.resolve();

  const setUp = async (setup: ExporterSetup): Promise<Exporter> => ({
    database: await openDatabase({ ...setup.database, applicationName: 'svc exporter' }),
    setup,
    hooks,
    send,
  });
  const take = async (command: ExportCommand): Promise<void> => {
    if (!opened) throw new Error('A command arrived before the set-up');
    const mine = new Work();
    work = mine;
    const outcome = await carryOut(command, await opened, mine);
    work = undefined;
    send({ kind: 'outcome', outcome });
  };

  const receive = (message: ToExporter): void => {
    if (message.kind === 'stop') return work?.stop(message.how);
    if (message.kind === 'execute') {
      working = take(message.command);
      return;
    }
    opened = setUp(message.setup);
    // If it rejects, Node prints the error and ends the process.
    void opened.then(() => send({ kind: 'ready' }));
  };

  const channel = openParentChannel({
    onMessage: (message) => receive(message as ToExporter),
    onClose: () => {
      work?.stop('now');
      setTimeout(() => process.exit(0), orphanedMs).unref();
      void working.finally(() => process.exit(0));
    },
  });
  const send = (message: FromExporter): void => channel.send(message);
  // The server process decides when exporters end: a signal that is sent to all processes of a service reaches it too.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
};
