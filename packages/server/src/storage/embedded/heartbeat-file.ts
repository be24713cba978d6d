// A file that a live process touches regularly. A watcher compares two modification times of the file with each other, never with its
// own clock, since the clocks of two machines may differ.
import { open, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** Interval at which the file is touched. */
const heartbeatMs = 2_000;
/** Time without a heartbeat after which the process counts as dead. Long, since its machine may be busy, or the file system remote. */
const quietMs = 15_000;
const lookMs = 250;

/** Touches the file until disposed. Does not create the file again when it was deleted. */
export const keepHeartbeat = (file: string): Disposable => {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined); // the file is read-only or was deleted: no heartbeat
  }, heartbeatMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

/** Resolves with true at the next heartbeat; with false after `quietMs` without one, or when there is no file. */
export const hasHeartbeat = async (file: string, signal?: AbortSignal): Promise<boolean> => {
  const first = await touchedMs(file);
  if (first === undefined) return false;
  const deadline = performance.now() + quietMs;
  while (performance.now() < deadline) {
    await sleep(lookMs, undefined, signal ? { signal } : {});
    const now = await touchedMs(file);
    if (now === undefined) return false;
    if (now !== first) return true;
  }
  return false;
};

/** Opens the file, because a network file system refreshes cached times only then. */
const touchedMs = async (file: string): Promise<number | undefined> => {
  try {
    await using handle = await open(file);
    return (await handle.stat()).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
