// Tells `svc dev` which files have changed, in batches: an editor that saves three files causes one restart.

import { basename, extname, isAbsolute, relative, sep } from 'node:path';
import { watch } from 'chokidar';
import type { FSWatcher } from 'chokidar';

const debounceMs = 100;

const codeExtensions = new Set(['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json']);

export interface Watched {
  /** Folders whose code counts; what is hidden, installed or data in them does not. */
  folders: readonly string[];
  /** Files that count whatever their name is. */
  files: readonly string[];
  /** A folder that changes with every run. */
  dataDir: string;
}

export interface Watcher extends AsyncDisposable {
  /** Adds to what is watched; resolves once changes will be noticed. */
  add(watched: Watched): Promise<void>;
  /** The next batch of changed files. Batches wait for their reader. */
  next(): Promise<string[]>;
}

export function openWatcher(): Watcher {
  const roots = new Set<string>();
  const dataDirs = new Set<string>();
  const watchers: FSWatcher[] = [];
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let wake: (() => void) | undefined;

  const ignored = (path: string, stats?: { isFile(): boolean }): boolean => {
    if (roots.has(path)) return false;
    const name = basename(path);
    if (isIgnoredName(name) || dataDirs.has(path)) return true;
    return stats?.isFile() === true && !codeExtensions.has(extname(name));
  };

  const onChange = (path: string): void => {
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      wake?.();
    }, debounceMs);
  };

  return {
    async add({ folders, files, dataDir }) {
      dataDirs.add(dataDir);
      const added = [...folders.filter((folder) => !isCovered(folder, folders)), ...files].filter(
        (path) => !roots.has(path),
      );
      if (added.length === 0) return;
      for (const path of added) roots.add(path);
      // NOTE: a watcher each, because chokidar says only once that it is ready.
      const watcher = watch(added, { ignored, ignoreInitial: true });
      watchers.push(watcher);
      watcher.on('all', (_event, path) => onChange(path));
      await new Promise<void>((resolve) => {
        watcher.once('ready', resolve);
      });
    },
    async next() {
      while (changed.size === 0 || timer !== undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const batch = [...changed];
      changed.clear();
      return batch;
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await Promise.all(watchers.map((watcher) => watcher.close()));
    },
  };
}

/** Whether watching another of the folders notices changes in this one too. */
function isCovered(folder: string, folders: readonly string[]): boolean {
  return folders.some((other) => {
    const path = relative(other, folder);
    return path !== '' && !isAbsolute(path) && path.split(sep).every((name) => !isIgnoredName(name));
  });
}

function isIgnoredName(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}
