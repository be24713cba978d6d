// Reports changes of files to `svc dev`, in batches: an editor that saves three files causes one restart.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';

const debounceMs = 100;

export interface Watcher extends AsyncDisposable {
  /** Watches these files too, also those that do not exist yet. Resolves when their changes are noticed. */
  add(files: Iterable<string>): Promise<void>;
  /** Resolves with the next batch of changed files. Batches wait for their reader. */
  next(): Promise<string[]>;
}

export function openWatcher(): Watcher {
  const watched = new Set<string>();
  const watchers: FSWatcher[] = [];
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let wake: (() => void) | undefined;

  const onChange = (path: string): void => {
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      wake?.();
    }, debounceMs);
  };

  return {
    async add(files) {
      const added = [...files].filter((file) => !watched.has(file));
      if (added.length === 0) return;
      for (const file of added) watched.add(file);
      // The creation of a file is seen by a watcher of its folder.
      const missing = added.filter((file) => !existsSync(file));
      const paths = new Set(added.map((file) => (missing.includes(file) ? dirname(file) : file)));
      const ignored = (path: string): boolean => !watched.has(path) && !paths.has(path);
      // One watcher for each call, because chokidar emits "ready" once.
      const watcher = watch([...paths], { ignoreInitial: true, depth: 0, ignored });
      watchers.push(watcher);
      watcher.on('all', (_event, path) => {
        if (watched.has(path)) onChange(path);
      });
      await new Promise<void>((resolve) => {
        watcher.once('ready', resolve);
      });
      // Created before the watcher was ready.
      for (const file of missing) if (existsSync(file)) onChange(file);
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
