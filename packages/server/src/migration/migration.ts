// Imports the data of the dev server of LangGraph.js. Each assistant, batch of items and thread is one transaction, and whatever exists is not
// changed: an import that was interrupted is repeated, and continues.
import { type FileHandle, open } from 'node:fs/promises';
import { Problem, type ProblemCode } from '@svc/contract/problem';
import type { ImportThreadAnswer, ImportThreadCommand } from '../engine/dispatch/protocol.ts';
import { type FilePart, readPart } from '../engine/thread-import/file-part.ts';
import { isUuid } from '../storage/postgres/uuid.ts';
import type { AssistantVersionImport } from '../storage/deployment/assistants/assistant-imports.ts';
import type { ItemImport } from '../storage/deployment/store/item-imports.ts';
import type { ThreadImport } from '../storage/deployment/threads/thread-imports.ts';
import { assertUnchanged, type DevServerFolder } from './dev-server-folder.ts';
import { assertRun, toAssistant, toItem, toThread, toVersion } from './dev-server-rows.ts';
import { MigrationLog, type MigrationReport } from './migration-report.ts';
import type { Target } from './target.ts';

export interface MigrationOptions {
  source: DevServerFolder;
  target: Target;
  /** Imports a thread; in a dry run it only reads the thread. */
  importThread: (command: ImportThreadCommand) => Promise<ImportThreadAnswer>;
  /** Why threads of a graph are left out; undefined when they are not. */
  obstacle: (graph_id: string) => string | undefined;
  /** Whether the next tasks of threads of this graph can be derived. */
  hasGraph: (graph_id: string) => boolean;
  isDry: boolean;
  signal: AbortSignal;
  onProgress: (done: number, all: number) => void;
}

/** Items that one statement stores, and their bytes. */
const itemBatch = { max: 500, bytesMax: 4 * 1024 * 1024 };
const existingBatch = 1_000;

export const migrate = async (options: MigrationOptions): Promise<MigrationReport> => {
  const log = new MigrationLog(options.isDry);
  const { source } = options;
  for (const name of source.missing)
    log.leaveOut('file', name, 'the folder does not have this file', { isFault: false });
  const has = (file: { version: string }): boolean => file.version !== '';
  if (has(source.ops)) {
    await using ops = await open(source.ops.path, 'r');
    await assertUnchanged(source.ops, ops);
    await importAssistants(options, ops, log);
    await importThreads(options, ops, log);
    await assertUnchanged(source.ops, ops);
  }
  for (const thread_id of source.states.threads.keys())
    if (!source.ops.threads.has(thread_id))
      log.leaveOut(
        'thread',
        thread_id,
        'there are checkpoints, but no thread: a deleted thread, or a stateless run',
        {
          isFault: false,
        },
      );
  if (has(source.store)) await importItems(options, log);
  return log.report;
};

const importAssistants = async (
  { source, target, signal }: MigrationOptions,
  ops: FileHandle,
  log: MigrationLog,
): Promise<void> => {
  const { path, assistants, versions } = source.ops;
  const byAssistant = new Map<string, AssistantVersionImport[]>();
  for (const part of versions) {
    const version = await attempt(log, 'assistant', `version at byte ${part[0]}`, async () =>
      toVersion(await readPart(path, ops, part)),
    );
    if (!version) continue;
    const others = byAssistant.get(version.assistant_id) ?? [];
    others.push(version);
    byAssistant.set(version.assistant_id, others);
  }
  for (const [id, part] of assistants) {
    signal.throwIfAborted();
    await attempt(log, 'assistant', id, async () => {
      const assistant = toAssistant(await readPart(path, ops, part), byAssistant.get(id) ?? []);
      const outcome = await target.importAssistant(assistant);
      if (outcome === 'exists') return void (log.report.assistants.existing += 1);
      log.report.assistants.imported += 1;
      log.report.assistants.versions += assistant.versions.length;
    });
  }
};

const importThreads = async (
  options: MigrationOptions,
  ops: FileHandle,
  log: MigrationLog,
): Promise<void> => {
  const { source, target, signal, onProgress } = options;
  const runs = await findRuns(source.ops, ops, signal);
  for (const { run_id, reason, isFault } of runs.leftOut) log.leaveOut('run', run_id, reason, { isFault });
  const ids = [...source.ops.threads.keys()];
  for (let at = 0; at < ids.length; at += existingBatch) {
    const some = ids.slice(at, at + existingBatch);
    const existing = await target.existingThreads(some.filter(isUuid));
    for (const [index, id] of some.entries()) {
      signal.throwIfAborted();
      onProgress(at + index, ids.length);
      if (existing.has(id.toLowerCase())) log.report.threads.existing += 1;
      else await attempt(log, 'thread', id, () => importOne(options, { id, ops, runs }, log));
    }
  }
};

const importOne = async (
  { source, importThread, obstacle, hasGraph }: MigrationOptions,
  { id, ops, runs }: { id: string; ops: FileHandle; runs: FoundRuns },
  log: MigrationLog,
): Promise<void> => {
  const part = source.ops.threads.get(id) as FilePart;
  const thread = toThread(await readPart(source.ops.path, ops, part));
  if (thread.thread_id !== id.toLowerCase())
    throw new Problem('invalid', `has the thread_id ${thread.thread_id}`);
  const found = source.states.threads.get(id);
  const graph_id = graphOf(thread);
  const missing = graph_id === undefined || !found ? undefined : obstacle(graph_id);
  if (missing !== undefined) throw new Problem('invalid', missing);
  const { path, version } = source.states;
  const answer = await importThread({
    thread,
    graph_id: graph_id !== undefined && found && hasGraph(graph_id) ? graph_id : undefined,
    states: { path, version, checkpoints: found?.checkpoints ?? [], writes: found?.writes ?? [] },
    runs: { path: source.ops.path, version: source.ops.version, parts: runs.ofThread.get(id) ?? [] },
  });
  if (answer.outcome === 'exists') return void (log.report.threads.existing += 1);
  const { report } = log;
  report.threads.imported += 1;
  report.threads.checkpoints += answer.checkpoints;
  report.runs.imported += answer.runs;
  for (const { run_id, status } of answer.unfinished)
    log.leaveOut('run', run_id, `it was ${status}, and is not executed`, { isFault: false });
  const { count, message } = answer.undescribed;
  if (count > 0)
    report.notices.push(
      `thread ${id}: ${count} checkpoints name no next nodes, because the graph failed: ${message}`,
    );
};

const graphOf = ({ metadata }: ThreadImport): string | undefined => {
  const { graph_id } = metadata;
  return typeof graph_id === 'string' ? graph_id : undefined;
};

const importItems = async (
  { source: { store }, target, signal }: MigrationOptions,
  log: MigrationLog,
): Promise<void> => {
  await using handle = await open(store.path, 'r');
  await assertUnchanged(store, handle);
  let waiting: ItemImport[] = [];
  let bytes = 0;
  const send = async (): Promise<void> => {
    const added = waiting.length === 0 ? 0 : await target.importItems(waiting);
    log.report.items.imported += added;
    log.report.items.existing += waiting.length - added;
    waiting = [];
    bytes = 0;
  };
  for (const part of store.items) {
    signal.throwIfAborted();
    const item = await attempt(log, 'item', `at byte ${part[0]}`, async () =>
      toItem(await readPart(store.path, handle, part)),
    );
    if (!item) continue;
    waiting.push(item);
    bytes += item.value.length;
    if (waiting.length >= itemBatch.max || bytes > itemBatch.bytesMax) await send();
  }
  await send();
  await assertUnchanged(store, handle);
};

const unstorable: ReadonlySet<ProblemCode> = new Set(['invalid', 'too_large']);

/** Leaves the object out when it cannot be stored. Other errors, such as an outage, end the import. */
const attempt = async <T>(
  log: MigrationLog,
  kind: 'thread' | 'assistant' | 'item',
  id: string,
  work: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem) || !unstorable.has(error.code)) throw error;
    log.leaveOut(kind, id, error.message, { isFault: true });
    return undefined;
  }
};

// Finds the runs of each thread. The file has them by run id, so each is read once.

interface FoundRuns {
  /** By thread id, in the order of creation. */
  ofThread: Map<string, FilePart[]>;
  leftOut: { run_id: string; reason: string; isFault: boolean }[];
}

const findRuns = async (
  { path, runs, threads }: DevServerFolder['ops'],
  handle: FileHandle,
  signal: AbortSignal,
): Promise<FoundRuns> => {
  const found: FoundRuns = { ofThread: new Map(), leftOut: [] };
  for (const [run_id, part] of runs) {
    signal.throwIfAborted();
    const run = await readRun(path, handle, part);
    if (run instanceof Problem) {
      found.leftOut.push({ run_id, reason: run.message, isFault: true });
      continue;
    }
    const thread_id = String(run.thread_id);
    if (!threads.has(thread_id)) {
      found.leftOut.push({
        run_id,
        reason: 'it is a stateless run, whose result is not kept here',
        isFault: false,
      });
      continue;
    }
    const others = found.ofThread.get(thread_id) ?? [];
    others.push(part);
    found.ofThread.set(thread_id, others);
  }
  return found;
};

/** Returns the problem when the run cannot be read or stored: then only this run is left out. */
const readRun = async (
  path: string,
  handle: FileHandle,
  part: FilePart,
): Promise<{ thread_id?: unknown } | Problem> => {
  try {
    const run = await readPart(path, handle, part);
    assertRun(run);
    return run as { thread_id?: unknown };
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid') return error;
    throw error;
  }
};
