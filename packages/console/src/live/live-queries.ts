// Keeps what queries have read up to date by the feed of run changes.
import type { QueryClient } from '@tanstack/react-query';
import type { RunSummary } from '@svc/sdk';
import { refreshChanged } from '../api/refresh.ts';
import type { FeedListener } from './shared-feed.ts';
import { patchRun } from './patch-runs.ts';

/** Lists that depend on the threads of runs: the feed has runs only. */
const ofThreads = [['threads'], ['inbox'], ['counts']];

/** Milliseconds until lists are read again after a change, and between reads while changes go on. */
const times = { soonMs: 100, everyMs: 2_000 };

export const liveQueries = (queries: QueryClient, { soonMs, everyMs } = times): FeedListener & Disposable => {
  const due = new Map<string, readonly unknown[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let readAtMs = -Infinity;
  let isReading = false;
  let isStopped = false;
  // The next reads begin after the last ones: begun earlier, they would cancel them.
  const readDue = async (): Promise<void> => {
    timer = undefined;
    readAtMs = performance.now();
    const keys = [...due.values()];
    due.clear();
    isReading = true;
    // Only what is shown is read now; the rest when it is shown.
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
    isReading = false;
    if (due.size > 0) readLater(readAtMs + everyMs - performance.now());
  };
  const readLater = (ms: number): void => {
    if (!isReading && !isStopped) timer ??= setTimeout(() => void readDue(), Math.max(soonMs, ms));
  };
  const readSoon = (keys: readonly (readonly unknown[])[]): void => {
    for (const key of keys) due.set(JSON.stringify(key), key);
    readLater(readAtMs + everyMs - performance.now());
  };
  return {
    onRun: (run: RunSummary) => {
      const incomplete = patchRun(queries, run);
      readSoon([...incomplete, ...ofThreads, ['thread', run.thread_id], ['run', run.thread_id, run.run_id]]);
    },
    onReadAgain: () => void refreshChanged(queries),
    [Symbol.dispose]: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
