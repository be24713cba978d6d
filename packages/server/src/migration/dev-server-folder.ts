// The folder in which the dev server of LangGraph.js keeps its data: three JSON files. They are scanned once, for the places of their entries;
// each entry is read when it is needed. So the memory depends on the number of entries and on the largest one, not on the size of the files.
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Problem } from '@svc/contract/problem';
import type { ImportedFile } from '../engine/dispatch/protocol.ts';
import { changedFile, type FilePart, versionOf } from '../engine/thread-import/file-part.ts';
import { JsonFault, JsonScanner, type Path } from '../json/json-scanner.ts';

export const folderName = '.langgraph_api';
const names = {
  ops: '.langgraphjs_ops.json',
  states: '.langgraphjs_api.checkpointer.json',
  store: '.langgraphjs_api.store.json',
};

export interface ScannedFile {
  path: string;
  version: string;
}

export interface DevServerFolder {
  ops: ScannedFile & {
    threads: Map<string, FilePart>;
    runs: Map<string, FilePart>;
    assistants: Map<string, FilePart>;
    versions: FilePart[];
  };
  /** By thread. */
  states: ScannedFile & { threads: Map<string, Pick<ImportedFile, 'checkpoints' | 'writes'>> };
  store: ScannedFile & { items: FilePart[] };
  /** Files that the folder does not have. */
  missing: string[];
}

const chunkBytes = 1_048_576;

/** Throws `invalid` when the folder has no data of the dev server, or a file is damaged. Nothing is written. */
export const openDevServerFolder = async (given: string, signal: AbortSignal): Promise<DevServerFolder> => {
  const { folder, present } = await findFolder(given);
  const missing = Object.values(names).filter((name) => !present.has(name));
  const path = (name: string): string => join(folder, name);
  const scan = (name: string, depthMax: number, onValue: OnValue): Promise<string> =>
    present.has(name) ? scanFile(path(name), { depthMax, onValue, signal }) : Promise.resolve('');

  const ops = { threads: new Map(), runs: new Map(), assistants: new Map(), versions: [] } as Omit<
    DevServerFolder['ops'],
    keyof ScannedFile
  >;
  const opsVersion = await scan(names.ops, 3, ([, kind, id], part) => {
    if (kind === 'threads' || kind === 'runs' || kind === 'assistants') addOnce(ops[kind], String(id), part);
    else if (kind === 'assistant_versions') ops.versions.push(part);
  });

  const threads: DevServerFolder['states']['threads'] = new Map();
  const of = (thread_id: string): Pick<ImportedFile, 'checkpoints' | 'writes'> => {
    const found = threads.get(thread_id) ?? { checkpoints: [], writes: [] };
    threads.set(thread_id, found);
    return found;
  };
  const statesVersion = await scan(names.states, 5, (found, [start, end]) => {
    const [, kind, first, ns, id] = found.map(String);
    if (kind === 'storage' && found.length === 5)
      of(first ?? '').checkpoints.push([ns ?? '', id ?? '', start, end]);
    else if (kind === 'writes' && found.length === 3) {
      const [thread_id, checkpoint_ns, checkpoint_id] = writeKey(first ?? '', start);
      of(thread_id).writes.push([checkpoint_ns, checkpoint_id, start, end]);
    }
  });
  for (const [thread_id, { checkpoints }] of threads) assertUnique(thread_id, checkpoints);

  const items: FilePart[] = [];
  const storeVersion = await scan(names.store, 5, (found, part) => {
    // A list of [namespace, list of [key, item]].
    if (found[1] === 'data' && found.length === 5 && found[3] === 1) items.push(part);
  });
  return {
    ops: { path: path(names.ops), version: opsVersion, ...ops },
    states: { path: path(names.states), version: statesVersion, threads },
    store: { path: path(names.store), version: storeVersion, items },
    missing,
  };
};

/** Throws when the file has changed since its scan. */
export const assertUnchanged = async ({ path, version }: ScannedFile, handle: FileHandle): Promise<void> => {
  if ((await versionOf(handle)) !== version) throw changedFile(path);
};

type OnValue = (path: Path, part: FilePart) => void;

interface ScanFileOptions {
  depthMax: number;
  onValue: OnValue;
  signal: AbortSignal;
}

/** Calls back for values 3 or `depthMax` levels deep below `json`. Returns the version of the file. */
const scanFile = async (path: string, { depthMax, onValue, signal }: ScanFileOptions): Promise<string> => {
  await using handle = await open(path, 'r');
  const version = await versionOf(handle);
  const scanner = new JsonScanner({
    depthMax,
    wants: (found) => found[0] === 'json' && (found.length === 3 || found.length === depthMax),
    onValue: (found, start, end) => onValue(found, [start, end]),
  });
  const buffer = Buffer.allocUnsafe(chunkBytes);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes);
      if (bytesRead === 0) break;
      scanner.write(buffer.subarray(0, bytesRead));
    }
    scanner.end();
  } catch (cause) {
    if (!(cause instanceof JsonFault)) throw cause;
    throw damagedFile(path, cause.at, cause.message);
  }
  return version;
};

const damagedFile = (path: string, at: number, reason: string): Problem =>
  new Problem(
    'invalid',
    `${basename(path)} is damaged at byte ${at}: ${reason}. Nothing was imported. If the dev server was killed while it wrote the file, start and stop it once, or use a copy`,
  );

const findFolder = async (given: string): Promise<{ folder: string; present: ReadonlySet<string> }> => {
  for (const folder of [given, join(given, folderName)]) {
    const present = new Set(await readdir(folder).catch(() => []));
    if (present.has(names.ops) || present.has(names.states) || present.has(names.store))
      return { folder, present };
    if ([...present].some((name) => name.endsWith('.pckl')))
      throw new Problem(
        'invalid',
        `${folder} was written by the dev server of LangGraph for Python. Only the files of LangGraph.js can be read`,
      );
  }
  throw new Problem(
    'invalid',
    `${given} holds no data of the LangGraph.js dev server: there is no ${names.ops} in it or in its ${folderName}`,
  );
};

const addOnce = (map: Map<string, FilePart>, id: string, part: FilePart): void => {
  if (map.has(id)) throw new JsonFault(part[0], `${JSON.stringify(id)} occurs twice`);
  map.set(id, part);
};

const assertUnique = (thread_id: string, entries: ImportedFile['checkpoints']): void => {
  const keys = new Set<string>();
  for (const [ns, id, start] of entries) {
    if (keys.has(`${id} ${ns}`))
      throw damagedFile(names.states, start, `checkpoint ${id} of thread ${thread_id} occurs twice`);
    keys.add(`${id} ${ns}`);
  }
};

/** The key of the writes of a checkpoint is a list as JSON. */
const writeKey = (key: string, at: number): [string, string, string] => {
  try {
    const parts = JSON.parse(key) as unknown;
    if (Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === 'string'))
      return parts as [string, string, string];
  } catch {
    // as below
  }
  throw new JsonFault(at, `the key of writes ${JSON.stringify(key.slice(0, 100))} is not a checkpoint`);
};
