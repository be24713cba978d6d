// Imports threads in an executor process, which has the graphs of the project: an import of a thread derives from the graph which nodes come
// next at each checkpoint.
import { open } from 'node:fs/promises';
import { Problem } from '@svc/contract/problem';
import { findTsconfig } from '../config/project/tsconfig.ts';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { Settings } from '../config/settings/settings.ts';
import { noSlots } from '../engine/dispatch/admission.ts';
import { ExecutorProcess } from '../engine/dispatch/executor-process.ts';
import type { ImportThreadAnswer, ImportThreadCommand, LoadReport } from '../engine/dispatch/protocol.ts';
import type { DatabaseOptions } from '../storage/postgres/database.ts';
import { createLogger } from '../telemetry/logger.ts';
import { CheckpointFiles } from '../engine/thread-import/checkpoint-files.ts';
import { changedFile, readParts, versionOf } from '../engine/thread-import/file-part.ts';
import { emptyAnswer, toRun, unfinishedOf } from '../engine/thread-import/imported-run.ts';

interface ImporterOptions {
  database: DatabaseOptions;
  /** Undefined when there is no project, and so no graph. */
  project: SvcJson | undefined;
  log: Settings['log'];
}

/** One for a thread, and one for a transaction. */
const poolMax = 2;

export class ThreadImporter implements AsyncDisposable {
  readonly #options: ImporterOptions;
  #executor: { process: ExecutorProcess; report: Promise<LoadReport> } | undefined;

  constructor(options: ImporterOptions) {
    this.#options = options;
  }

  /** Graphs that cannot be loaded, with the reasons. */
  async failures(): Promise<ReadonlyMap<string, string>> {
    const { failures } = await this.#started().report;
    return new Map(failures.map(({ graph_id, message }) => [graph_id, message]));
  }

  /** Rejects with `invalid` when the process ends meanwhile, such as for lack of memory; the next thread gets another one. */
  async import(command: ImportThreadCommand): Promise<ImportThreadAnswer> {
    const { process } = this.#started();
    try {
      return await process.importThread(command);
    } catch (error) {
      // A process that was never ready has not found the database.
      if (this.#executor?.process === process || !process.isReady) throw error;
      throw new Problem('invalid', `it cannot be imported: ${(error as Error).message}`, { cause: error });
    }
  }

  #started(): { process: ExecutorProcess; report: Promise<LoadReport> } {
    if (this.#executor) return this.#executor;
    const { database, project, log } = this.#options;
    const process = new ExecutorProcess(
      {
        database: { ...database, poolMax },
        graphs: [...(project?.graphs ?? [])],
        tsconfig: project && findTsconfig(project.dir),
        env: project?.env ?? {},
        log,
      },
      {
        onRun: () => undefined,
        onSlots: () => undefined,
        onModules: () => undefined,
        onExit: () => (this.#executor = undefined),
      },
      noSlots,
      createLogger(log),
    );
    const report = process.load();
    report.catch(() => undefined); // the import reports it
    this.#executor = { process, report };
    return this.#executor;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executor?.process.stop();
  }
}

// Reads a thread as an import does, and stores nothing.

/** Throws `invalid` with file and place when an entry is damaged. */
export const checkThread = async ({ states, runs }: ImportThreadCommand): Promise<ImportThreadAnswer> => {
  const answer = emptyAnswer('imported');
  if (states.checkpoints.length > 0) {
    await using handle = await open(states.path, 'r');
    const files = new CheckpointFiles(states, handle);
    for (const ns of files.namespaces)
      for (const id of files.ids(ns)) if (await files.find(ns, id)) answer.checkpoints += 1;
    if ((await versionOf(handle)) !== states.version) throw changedFile(states.path);
  }
  await readParts(runs, (run) => {
    if (toRun(run)) answer.runs += 1;
    else answer.unfinished.push(unfinishedOf(run));
  });
  return answer;
};
