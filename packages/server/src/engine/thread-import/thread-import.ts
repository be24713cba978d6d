// Imports one thread of the dev server of LangGraph.js in one transaction. A thread that exists is not changed.
import { open } from 'node:fs/promises';
import type {
  ImportedEnd,
  ImportTarget,
  RunImport,
} from '../../storage/deployment/threads/thread-imports.ts';
import type { ImportedFile, ImportThreadAnswer, ImportThreadCommand } from '../dispatch/protocol.ts';
import type { ValueCodec } from '../codec/value-codec.ts';
import type { RunTools } from '../executor/runs/run-tools.ts';
import { CheckpointFiles } from './checkpoint-files.ts';
import { changedFile, readParts, versionOf } from './file-part.ts';
import { isRecord } from '../../json/is-record.ts';
import { emptyAnswer, configurableKeys, toRun, unfinishedOf } from './imported-run.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import { ImportedStates, type RootHead } from './imported-states.ts';

/** Encoded bytes that one statement stores, unless a single checkpoint has more. */
const batchBytesMax = 8 * 1024 * 1024;
/** PostgreSQL ends a transaction that has sent nothing for 30 seconds. */
const batchMsMax = 5_000;

/** Throws `invalid` with file and place when an entry is damaged; then nothing of the thread is stored. */
export const importThread = async (
  command: ImportThreadCommand,
  tools: RunTools,
): Promise<ImportThreadAnswer> => {
  const { thread, graph_id, states: file } = command;
  // The files are those of a JavaScript project: a Python graph does not describe their checkpoints.
  const isDescribed = graph_id !== undefined && !tools.graphs.isPython(graph_id);
  const graph = isDescribed ? await tools.graphs.get(graph_id, thread.config, 'threads.read') : undefined;
  const codec = tools.codecOf(undefined);
  const answer = emptyAnswer('exists');
  const isNew = await tools.imports.import(thread, async (target) => {
    const states = new ImportedStates(thread.thread_id, codec, graph);
    await readParts(command.runs, (read) => {
      if (!isRecord(read) || !isUuid(read['run_id'])) return;
      const keys = configurableKeys(read);
      if (keys) states.hiddenKeys.set(read['run_id'], new Set(keys));
    });
    if (file.checkpoints.length > 0) await storeStates(states, file, target);
    const runs = await storeRuns(command.runs, states, target);
    Object.assign(answer, runs, { checkpoints: states.checkpoints, undescribed: states.undescribed });
    return endOf(thread.status, states.root, codec);
  });
  if (isNew) answer.outcome = 'imported';
  return answer;
};

const storeStates = async (
  states: ImportedStates,
  file: ImportedFile,
  target: ImportTarget,
): Promise<void> => {
  await using handle = await open(file.path, 'r');
  const files = new CheckpointFiles(file, handle);
  let sentAtMs = performance.now();
  const sendLarge = async (): Promise<void> => {
    if (states.pendingBytes < batchBytesMax && performance.now() - sentAtMs < batchMsMax) return;
    await target.store(states.take({ isLast: false }));
    sentAtMs = performance.now();
  };
  for (const ns of files.namespaces) await states.addNamespace(files, ns, sendLarge);
  if ((await versionOf(handle)) !== file.version) throw changedFile(file.path);
  await target.store(states.take({ isLast: true }));
};

const storeRuns = async (
  found: ImportThreadCommand['runs'],
  states: ImportedStates,
  target: ImportTarget,
): Promise<Pick<ImportThreadAnswer, 'runs' | 'unfinished'>> => {
  let runs = 0;
  let waiting: RunImport[] = [];
  let size = 0;
  const store = async (): Promise<void> => {
    if (waiting.length > 0) runs += await target.addRuns(waiting);
    waiting = [];
    size = 0;
  };
  const unfinished: ImportThreadAnswer['unfinished'] = [];
  await readParts(found, async (read) => {
    const run = toRun(read);
    if (!run) return void unfinished.push(unfinishedOf(read));
    const { found_head = null, final_head = null } = states.runHeads.get(run.run_id) ?? {};
    waiting.push({ ...run, found_head, final_head });
    size += run.kwargs.length;
    if (size > batchBytesMax) await store();
  });
  await store();
  return { runs, unfinished };
};

/**
 * The state of the thread at its newest checkpoint. A thread that was busy has no run here: it is interrupted when something is left to
 * run, so that a client can continue it.
 */
const endOf = (
  status: ImportThreadCommand['thread']['status'],
  root: RootHead | undefined,
  codec: ValueCodec,
): ImportedEnd => {
  const writes = root?.read.writes ?? [];
  const isLeft = (task_id: string): boolean =>
    root === undefined || root.tasks.length === 0 || root.tasks.some(({ id }) => id === task_id);
  const interrupts = writes.flatMap(({ task_id, channel, value }) =>
    channel === '__interrupt__' && isLeft(task_id) ? [[task_id, [value].flat()] as const] : [],
  );
  const isOpen = (root?.tasks.length ?? 0) > 0 || interrupts.length > 0;
  const settled = status === 'busy' ? (isOpen ? 'interrupted' : 'idle') : status;
  const failure = writes.find(({ channel }) => channel === '__error__')?.value as
    | { name?: unknown; message?: unknown }
    | undefined;
  return {
    status: settled,
    interrupts: codec.toJson(Object.fromEntries(interrupts)),
    error:
      settled === 'error'
        ? JSON.stringify({
            error: typeof failure?.name === 'string' ? failure.name : 'Error',
            message:
              typeof failure?.message === 'string' ? failure.message : 'The run failed on another server',
          })
        : null,
  };
};
